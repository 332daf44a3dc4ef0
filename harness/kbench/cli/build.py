"""`kbench build SOLUTION...`: compile ahead of time, on a machine that need not have a GPU."""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from kbench import catalog, machine, units
from kbench.build import toolchain, turn
from kbench.cli import complete
from kbench.cli.options import given, root_option, settings_options
from kbench.client import Referee
from kbench.device import telemetry
from kbench.errors import KbenchError, UsageFault
from kbench.referee.events import Prepared
from kbench.report import build as of_build
from kbench.settings import OPTIONS, Settings, checked, fields

ARCH = re.compile(r"^(?:sm_|compute_)?(\d{1,2})\.?(\d)([af]?)$")
BUILDING = tuple(option for option in OPTIONS if option.name in ("build", "timeout", "entry"))
HELP = """Build the extensions of each SOLUTION into the cache, without a GPU; nothing of it is called.

What a solution builds when it is imported is built; what it builds in its constructor too, where its problem is known:
below problems/ at the same place, or given with --problem. A later `kbench eval` with the same torch, compilers and
cache finds the builds there. Exit 1 where one failed.
"""


@click.command("build", help=HELP, short_help="Build solutions ahead of time, without a GPU.")
@click.argument("solutions", nargs=-1, required=True, shell_complete=complete.names("solutions"))
@click.option("--arch", "archs", multiple=True, help="GPU architecture, as 9.0 or sm_90; repeatable.  [this machine's]")
@click.option("--problem", help="The problem whose get_init_inputs() constructs the solutions.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Solutions at once.  [as many as cores and memory bear]")
@settings_options(BUILDING)
@root_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a solution on stdout.")
@click.option("-v", "--verbose", is_flag=True, help="Show what every kernel uses.")
def command(
    solutions: tuple[str, ...],
    archs: tuple[str, ...],
    problem: str | None,
    jobs: int | None,
    root: str | None,
    as_json: bool,
    verbose: bool,
    **options: Any,
) -> int:
    settings = checked(Settings(device="cpu", **fields(given(options, BUILDING))))
    found_root = catalog.find_root(root)
    of_problem = catalog.locate(problem, "problems", found_root) if problem else None
    names = [str(catalog.locate(name, "solutions", found_root)) for name in solutions]
    lanes = min(len(names), jobs or turn.slots(machine.usable_cores(), machine.available_memory()))
    failed = 0
    for prepared in _all(names, arch_list(archs), settings, of_problem, root, lanes):
        failed += prepared.failed
        click.echo(msgspec.json.encode(prepared).decode() if as_json else "\n".join(_lines(prepared, verbose)))
    return 1 if failed else 0


def arch_list(given: tuple[str, ...]) -> str:
    """Those that were asked for, else this machine's. Empty where none is known."""
    own = telemetry.capability() if not given else None
    return toolchain.arch_list(*map(_arch, given or ((own,) if own else ())))


def _arch(given: str) -> str:
    found = ARCH.match(given)
    if not found:
        raise UsageFault(f"--arch {given!r} is no architecture", "for instance --arch 9.0, or --arch sm_90")
    return f"{found[1]}.{found[2]}{found[3]}"


def _all(
    names: list[str], archs: str, settings: Settings, problem: Path | None, root: str | None, lanes: int
) -> Iterator[Prepared]:
    """The solutions over so many lanes, each with a builder of its own; what became of them, as it comes."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    done: queue.SimpleQueue[Prepared | KbenchError] = queue.SimpleQueue()
    for name in names:
        waiting.put(name)

    def lane() -> None:
        try:
            with Referee("cpu", root) as referee:
                while True:
                    done.put(referee.build(waiting.get_nowait(), archs, settings, problem))
        except queue.Empty:
            return
        except KbenchError as error:
            done.put(error)

    for _ in range(lanes):
        threading.Thread(target=lane, daemon=True).start()
    for _ in names:
        outcome = done.get()
        if isinstance(outcome, KbenchError):
            raise outcome
        yield outcome


def _lines(prepared: Prepared, verbose: bool) -> Iterator[str]:
    build = prepared.build
    said = of_build.summary(build) if build.extensions else ""
    state = "FAILED" if prepared.failed else "built" if build.extensions else "nothing"
    yield f"{state:<8} {prepared.solution}  {said}".rstrip()
    details = [*of_build.reasons(build), *of_build.kernels(build, verbose), *of_build.failure(build)]
    shown = [prepared.note] if prepared.note and not any(e.error for e in build.extensions) else []
    yield from (f"         {units.printable(line)}" for line in (*details, *shown))
