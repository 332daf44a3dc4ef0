"""`kbench run CONFIG`: a sweep."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from kbench import catalog, machine, units
from kbench.build import cache, turn
from kbench.cli import sweep_progress, tables
from kbench.cli.options import given, root_option, settings_options
from kbench.cli.preview import preview
from kbench.errors import KbenchError, UsageFault
from kbench.report import board
from kbench.report.standing import groups
from kbench.settings import EAGER, OPTIONS
from kbench.sweep import config as configuration
from kbench.sweep import cores, lanes
from kbench.sweep.built import Built
from kbench.sweep.config import MATRIX, Config
from kbench.sweep.crew import Crew
from kbench.sweep.events import Interrupted, Place
from kbench.sweep.folder import Folder
from kbench.sweep.judge import Ahead, Bench
from kbench.sweep.kept import Shelf
from kbench.sweep.pair import Kind, Pair, matching, of_shard
from kbench.sweep.plan import Plan, Planner
from kbench.sweep.quiet import Quiet
from kbench.sweep.run import RERUNS, Rerun, Sweep, Tally
from kbench.sweep.schedule import kind_of

MOST_BUILDERS = 8
SHARD = re.compile(r"(\d{1,4})/(\d{1,4})")
HELP = """Evaluate many pairs, as the YAML file CONFIG says.

Results go to results/NAME as they come: results.jsonl, leaderboard.csv, leaderboard.md, environment.json. The same
command again does what is left: a pair is done when problem, solution, settings and environment are the same.
Ctrl-C once finishes and saves what is being timed, twice stops at once.

Every setting has one name: as a key in the file, as an option here, and in the environment as KBENCH_NAME. Options
are above the environment, which is above the file.
"""


@click.command("run", help=HELP, short_help="Evaluate many pairs, as a configuration says.")
@click.argument("config", type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where results go.  [results/NAME below the root]",
)
@click.option("--dry-run", is_flag=True, help="Show the pairs, what is done already and an estimate; run nothing.")
@click.option("-k", "pattern", metavar="PATTERN", help="Only pairs whose name holds this, or fits it as a glob.")
@click.option("--shard", metavar="I/N", help="Only the I-th of N parts; which pairs those are never changes.")
@click.option(
    "--rerun", type=click.Choice(RERUNS), help="Run again also what is done: what failed, what is noisy, or all."
)
@click.option("--max-failures", type=click.IntRange(min=1), metavar="N", help="Stop after so many that did not pass.")
@root_option
@settings_options((*MATRIX, *OPTIONS))
def command(
    config: Path,
    output: Path | None,
    dry_run: bool,
    pattern: str | None,
    shard: str | None,
    rerun: Rerun | None,
    max_failures: int | None,
    root: str | None,
    **options: Any,
) -> int:
    found_root = catalog.find_root(root)
    wanted, document = configuration.read(config, given(options, (*MATRIX, *OPTIONS)))
    devices = lanes.devices(wanted.devices)
    planner = Planner(wanted, found_root, lanes.kinds(devices))
    plan = planner.plan()
    document.mistakes += planner.mistakes
    document.demand_none()
    _warn(plan)
    pairs = _chosen(plan, pattern, shard)
    folder = output or _folder(wanted, found_root, shard)
    if dry_run:
        return preview(pairs, devices, lambda names: _crew(names, found_root, False, {}, False), folder, rerun)
    with Folder(folder, wanted.name) as kept:
        if kept.store.torn:
            _say(f"cut off a torn last line of {units.size(kept.store.torn)}: that pair runs again")
        tally = _run(pairs, devices, wanted, found_root, kept, rerun, max_failures)
    _tell(tally, plan, kept)
    return exit_code(tally, plan)


def _run(
    pairs: list[Pair],
    devices: list[str],
    wanted: Config,
    root: Path | None,
    folder: Folder,
    rerun: Rerun | None,
    max_failures: int | None,
) -> Tally:
    by_kind: dict[Kind, Place] = {}
    crew = _crew(devices, root, rerun == "all", by_kind, any(pair.grad for pair in pairs))
    watcher = sweep_progress.progress()
    sweep = Sweep(crew, devices, wanted.retries, watcher, rerun, max_failures)
    places = sweep.gather()
    by_kind |= {kind_of(name): place for name, place in places.items()}
    folder.describe(list(places.values()), {"name": wanted.name, "command": sys.argv[1:], "pairs": len(pairs)})
    before = signal.signal(signal.SIGINT, _interrupter(crew))
    try:
        tally = sweep.run(pairs, places, folder)
        folder.publish()
    finally:
        signal.signal(signal.SIGINT, before)
        watcher.close()
    crew.join()
    return tally


def _crew(devices: list[str], root: Path | None, afresh: bool, by_kind: dict[Kind, Place], gradients: bool) -> Crew:
    quiet = Quiet()
    beside = cache.default_folder()
    built = Built(beside)
    shelf = Shelf(beside / "baselines" if beside else None, afresh)
    gpus = [device for device in devices if device != "cpu"]
    spare = cores.for_builds(cores.usable(), len(gpus))
    builders = min(MOST_BUILDERS, turn.slots(len(spare), machine.available_memory()))
    return Crew(
        lambda device: Bench(device, root, quiet, shelf, built, gradients),
        builders,
        lambda: Ahead(root, quiet, spare, built, by_kind),
    )


def _interrupter(crew: Crew) -> Any:
    """Ctrl-C is an event, so that no result is lost half-way; the second time it is itself."""
    seen: list[int] = []

    def interrupt(number: int, _: object) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)
        crew.events.put(Interrupted())

    return interrupt


def _chosen(plan: Plan, pattern: str | None, shard: str | None) -> list[Pair]:
    pairs = list(plan.pairs)
    if pattern:
        pairs = matching(pairs, pattern)
    if shard:
        pairs = of_shard(pairs, *_shard(shard))
    if not plan.pairs:
        raise UsageFault("no solution of these problems", "see kbench list, and what the configuration chooses")
    if not pairs and not shard:
        raise UsageFault(f"-k {pattern} leaves no pair", "kbench run --dry-run without -k shows their names")
    return pairs


def _shard(text: str) -> tuple[int, int]:
    found = SHARD.fullmatch(text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageFault(f"--shard {text!r} is not I/N", "for instance --shard 1/4, up to --shard 4/4")
    return int(found[1]), int(found[2])


def _folder(wanted: Config, root: Path | None, shard: str | None) -> Path:
    part = f"-{shard.replace('/', 'of')}" if shard else ""
    return (root or Path.cwd()) / "results" / f"{wanted.name}{part}"


def _warn(plan: Plan) -> None:
    for name, fault in plan.faults:
        _say(f"{name} is left out: {fault.message}")
    for path in plan.strays[:5]:
        _say(f"{path} is left out: no chosen problem is meant by its name")
    if len(plan.strays) > 5:
        _say(f"and {len(plan.strays) - 5} more are left out likewise")


def _tell(tally: Tally, plan: Plan, folder: Folder) -> None:
    for group in groups(tally.results, EAGER):
        tables.show(group, board.tables(group)[:2], strict=False)
    for pair, fault in tally.unjudged:
        _say(f"not judged: {pair.name}: {fault.message}" + (f"\n  fix: {fault.fix}" if fault.fix else ""))
    failed = sum(not result.passed for result in tally.results)
    counts = f"{units.plural(len(tally.results), 'result')} ({tally.fresh} new), {failed} not passed"
    parts = [counts, *_rest(tally, plan)]
    _say(f"{', '.join(parts)}; in {folder.path}")
    if tally.left or tally.unjudged:
        _say("the same command goes on with what is left")


def _rest(tally: Tally, plan: Plan) -> Iterator[str]:
    if tally.unjudged:
        yield f"{len(tally.unjudged)} not judged"
    if tally.left:
        yield f"{tally.left} not reached ({tally.stopped or 'no device is left'})"
    if plan.faults:
        yield f"{units.plural(len(plan.faults), 'problem')} left out"


def exit_code(tally: Tally, plan: Plan) -> int:
    """The worst of what happened; an interruption is what whoever caused it knows."""
    if tally.interrupted:
        return 130
    faults: list[KbenchError] = [fault for _, fault in (*tally.unjudged, *plan.faults)]
    codes = [fault.exit_code for fault in faults]
    return max([*codes, 1 if any(not result.passed for result in tally.results) else 0])


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        click.echo(line if "\n" in line else f"kbench: {line}", err=True)
