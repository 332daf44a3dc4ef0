"""`kbench eval PROBLEM SOLUTION`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any

import click

from kbench.cli import complete
from kbench.cli.progress import Progress
from kbench.client import Referee
from kbench.errors import MachineFault, UsageFault
from kbench.records import Result
from kbench.report import text
from kbench.settings import BASELINES, BUILD_MODES, STAGES, Settings, checked

HELP = """Build SOLUTION, check it against PROBLEM, time it, and say how much faster it is.

PROBLEM and SOLUTION are paths, or short names as `kbench list` shows them. A solution is a file with ModelNew, a
folder with a solution.py, or a language model's reply (.md, .txt) that holds one.
"""
BUILD_HELP = "Against light headers (seconds), torch's own (a minute), or light where that works."


@click.command("eval", help=HELP, short_help="Evaluate one solution of one problem.")
@click.argument("problem", shell_complete=complete.names("problems"))
@click.argument("solution", shell_complete=complete.names("solutions"))
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:<index>.")
@click.option("--workload", "workloads", multiple=True, metavar="NAME", help="Repeatable; all means every one.")
@click.option("--trials", default=5, show_default=True, help="Checks on fresh inputs.")
@click.option("--budget", default=2.0, show_default=True, metavar="SECONDS", help="Timed work, both sides together.")
@click.option("--baseline", "baselines", multiple=True, type=click.Choice(BASELINES), help="Repeatable.  [eager]")
@click.option("--atol", type=float, help="Absolute tolerance, instead of the problem's.")
@click.option("--rtol", type=float, help="Relative tolerance, instead of the problem's.")
@click.option("--timeout", "timeouts", multiple=True, metavar="STAGE=SECONDS", help=f"Stages: {', '.join(STAGES)}.")
@click.option("--build", type=click.Choice(BUILD_MODES), default="auto", show_default=True, help=BUILD_HELP)
@click.option("--entry", metavar="CLASS", help="The solution's class.  [ModelNew, else Model]")
@click.option("--root", metavar="FOLDER", help="The folder that holds problems/ and solutions/.")
@click.option("--processes", default=1, show_default=True, help="Repeat in so many fresh workers.")
@click.option("--seed", type=int, help="Use these secret seeds, to reproduce a failure.")
@click.option("--require-jail", is_flag=True, help="Exit 3 where a layer of the jail cannot be had.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a workload on stdout.")
@click.option("--output", metavar="FILE", help="Also append the JSON objects to FILE.")
@click.option("--keep", metavar="FOLDER", help="Copy the worker's scratch to FOLDER when it is done.")
@click.option("-v", "--verbose", is_flag=True, help="Show the solution's output also where it passed.")
def command(problem: str, solution: str, as_json: bool, output: str | None, verbose: bool, **options: Any) -> int:
    workloads, root = options.pop("workloads"), options.pop("root")
    settings = _settings(options)
    with _opened(output) as sink, Referee(settings.device, root) as referee, Progress() as progress:

        def found(result: Result) -> None:
            progress.pause()
            _print(result, as_json, verbose)
            if sink:
                _append(sink, result)

        results = referee.evaluate(problem, solution, workloads, settings, progress.enter, found, more=False)
    return 0 if all(result.passed for result in results) else 1


def _settings(options: dict[str, Any]) -> Settings:
    timeouts = dict(timeout(given) for given in options.pop("timeouts"))
    baselines = tuple(dict.fromkeys(options.pop("baselines"))) or ("eager",)
    budget, keep = options.pop("budget"), options.pop("keep")
    kept = str(Path(keep).resolve()) if keep else None
    return checked(Settings(timeouts=timeouts, baselines=baselines, budget_s=budget, keep=kept, **options))


def timeout(given: str) -> tuple[str, float]:
    """STAGE=SECONDS."""
    stage, equals, seconds = given.partition("=")
    try:
        return stage, float(seconds) if equals else float("nan")
    except ValueError:
        raise UsageFault(f"--timeout {given!r} is not STAGE=SECONDS", "for instance --timeout call=60") from None


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
