"""`kbench show KEY`: everything about one result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from kbench import catalog, units
from kbench.errors import UsageFault
from kbench.records import Result
from kbench.report import reproduce, text
from kbench.sweep.store import RESULTS, read

HELP = """Show everything about the result KEY, with the command that evaluates its pair again.

KEY is the beginning of a key as leaderboards show it, or part of a pair's name. RESULTS are results.jsonl files or
folders of runs; without any, all below results/ are searched.
"""


@click.command("show", help=HELP, short_help="Show everything about one result.")
@click.argument("key")
@click.argument("results", nargs=-1, type=click.Path(path_type=Path))
@click.option("--root", metavar="FOLDER", help="The folder that holds results/.")
@click.option("--json", "as_json", is_flag=True, help="The whole JSON object.")
def command(key: str, results: tuple[Path, ...], root: str | None, as_json: bool) -> int:
    found = [(path, one) for path in results or _runs(root) for one in read(path) if _fits(one, key)]
    if not found:
        raise UsageFault(f"no result {key!r}", "see the last column of kbench leaderboard --by result")
    names = {_key(one) for _, one in found}
    if len(names) > 1:
        listed = "\n".join(f"  {_key(one)}  {_name(one)}" for _, one in found[:10])
        raise UsageFault(f"{key!r} means {len(names)} results:\n{listed}", "give one of these keys")
    path, result = found[-1]
    click.echo(result.to_json() if as_json else "\n".join(_lines(result, path)))
    return 0


def _runs(root: str | None) -> list[Path]:
    base = (catalog.find_root(root) or Path.cwd()) / "results"
    return sorted((path.parent for path in base.glob(f"*/{RESULTS}")), key=lambda path: path.stat().st_mtime)


def _fits(result: Result, key: str) -> bool:
    return _key(result).startswith(key) or key in _name(result)


def _key(result: Result) -> str:
    return result.run.key if result.run else ""


def _name(result: Result) -> str:
    of_set = f"{result.run.set}: " if result.run and result.run.set else ""
    return f"{result.problem.id} [{result.problem.workload}] {of_set}{result.solution.id}"


def _lines(result: Result, path: Path) -> Iterator[str]:
    yield from text.lines(result, verbose=True)
    yield ""
    details = {**_of_run(result, path), **_of_content(result), **_of_timing(result)}
    for name, said in details.items():
        yield units.printable(f"{name:<12} {said}")
    yield f"{'again':<12} {reproduce.command(result)}"


def _of_run(result: Result, path: Path) -> dict[str, str]:
    run = result.run
    if run is None:
        return {"results": str(path)}
    tries = units.plural(run.attempts, "attempt")
    held = f", device held for {run.held_s:.2f} s" if run.held_s is not None else ""
    return {"key": run.key, "results": str(path), "finished": f"{run.finished}, {tries}{held}"}


def _of_content(result: Result) -> dict[str, str]:
    environment = result.environment
    parts = [f"kbench {environment.kbench}", f"Python {environment.python}", f"torch {environment.torch}"]
    parts += [f"CUDA {environment.cuda}"] if environment.cuda else []
    said = {
        "problem": f"sha256 {result.problem.sha256[:16]}",
        "solution": f"sha256 {result.solution.sha256[:16]}, weights {result.solution.weights or 'not known'}",
        "environment": ", ".join([*parts, environment.compiler or "no compiler"]),
        "seeds": ", ".join(map(str, result.seeds)),
        "jail": ", ".join(f"{layer} {state}" for layer, state in result.jail.items()) or "none",
    }
    return said | ({"changed": ", ".join(result.solution.changed)} if result.solution.changed else {})


def _of_timing(result: Result) -> dict[str, str]:
    said = {"seconds": ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in result.seconds.items())}
    if result.timing:
        timing = result.timing
        said["timing"] = f"{timing.inputs} inputs in {units.plural(timing.slots, 'slot')}, cache {timing.cache}"
    for name, baseline in result.baselines.items():
        if baseline.kept:
            cost = f", which took {baseline.cost_s:.1f} s" if baseline.cost_s is not None else ""
            said[name] = f"measured once, {baseline.kept}{cost}"
    return said
