"""`kbench eval PROBLEM SOLUTION`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any

import click

from kbench.cli import complete
from kbench.cli.options import USUAL_WORKLOAD, given, root_option, settings_options
from kbench.cli.progress import Progress
from kbench.client import Referee
from kbench.errors import MachineFault, UsageFault
from kbench.options import Option
from kbench.records import Result
from kbench.report import text
from kbench.settings import OPTIONS, SEED, Settings, checked

HELP = """Build SOLUTION, check it against PROBLEM, time it, and say how much faster it is.

PROBLEM and SOLUTION are paths, or short names as `kbench list` shows them. A solution is a file with ModelNew, a
folder with a solution.py, or a language model's reply (.md, .txt) that holds one.
"""
PLACE = (
    Option("device", "device", "word", "auto, cpu, cuda or cuda:<index>.", shown="auto"),
    Option("workload", "workloads", "words", "Repeatable; all means every one.", shown=USUAL_WORKLOAD),
)


@click.command("eval", help=HELP, short_help="Evaluate one solution of one problem.")
@click.argument("problem", shell_complete=complete.names("problems"))
@click.argument("solution", shell_complete=complete.names("solutions"))
@settings_options(PLACE)
@settings_options((*OPTIONS, SEED))
@root_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a workload on stdout.")
@click.option("--output", metavar="FILE", help="Also append the JSON objects to FILE.")
@click.option("--keep", metavar="FOLDER", help="Copy the worker's scratch into FOLDER when it is done.")
@click.option("-v", "--verbose", is_flag=True, help="Show what kernels use, and also a passed solution's output.")
def command(problem: str, solution: str, as_json: bool, output: str | None, verbose: bool, **options: Any) -> int:
    root, keep = options.pop("root"), options.pop("keep")
    place = given(options, PLACE)
    workloads = place.get("workload", ())
    kept = _folder(keep) if keep else None
    named = {name: value for name, value in options.items() if value is not None}
    settings = checked(Settings(device=place.get("device", "auto"), keep=kept, **named))
    with _opened(output) as sink, Referee(settings.device, root) as referee, Progress() as progress:

        def found(result: Result) -> None:
            progress.pause()
            _print(result, as_json, verbose)
            if sink:
                _append(sink, result)

        results = referee.evaluate(problem, solution, workloads, settings, progress.enter, found, more=False)
    return 0 if all(result.passed for result in results) else 1


def _print(result: Result, as_json: bool, verbose: bool) -> None:
    click.echo(result.to_json() if as_json else "\n".join(text.lines(result, verbose)))


def _opened(output: str | None) -> Any:
    if output is None:
        return _Nothing()
    try:
        return Path(output).open("a", encoding="utf-8")
    except OSError as error:
        raise UsageFault(f"cannot write to {output}: {error.strerror}", "name another --output") from None


def _append(sink: IO[str], result: Result) -> None:
    try:
        sink.write(result.to_json() + "\n")
        sink.flush()
    except OSError as error:
        raise MachineFault(f"cannot write the result: {error.strerror}", "free some disk") from None


class _Nothing:
    """No file to write to."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()


def _folder(named: str) -> str:
    """Before anything is evaluated: afterwards the result would be lost."""
    path = Path(named).resolve()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageFault(f"nothing can be kept in {path}: {error.strerror}", "name a folder for --keep") from None
    return str(path)
