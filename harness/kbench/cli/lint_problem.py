"""`kbench lint-problem PROBLEM...`: what makes a problem easy to cheat."""

from __future__ import annotations

from collections.abc import Iterator

import click
import msgspec

from kbench import units
from kbench.cli import complete
from kbench.cli.options import USUAL_WORKLOAD, root_option
from kbench.client import Referee
from kbench.records import Linted

HELP = """Look for what makes each PROBLEM easy to cheat, or hard to judge by.

Trivial answers must fail against it: zeros, one constant, the mean, a copy of the first input, a row of a hundred left
out, bfloat16 inside, other weights. Reported are outputs that are flat, do not depend on the inputs or lie below the
tolerance, parameters without effect, inputs that never change their sign, and work too short to time. A problem says
in KBENCH = dict(lint={"one-sided": "why"}) what need not hold for it. Exit 1 where something else is found.
"""


@click.command("lint-problem", help=HELP, short_help="Look for what makes a problem easy to cheat.")
@click.argument("problems", nargs=-1, required=True, shell_complete=complete.names("problems"))
@click.option("--device", default="auto", show_default=True, metavar="NAME", help="auto, cpu, cuda or cuda:<index>.")
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME",
    help=f"Repeatable; all means every one.  [{USUAL_WORKLOAD}]",
)
@root_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a workload on stdout.")
def command(problems: tuple[str, ...], device: str, workloads: tuple[str, ...], root: str | None, as_json: bool) -> int:
    failed = 0
    with Referee(device, root) as referee:
        for name in problems:
            for linted in referee.lint(name, workloads):
                failed += not linted.passed
                click.echo(msgspec.json.encode(linted).decode() if as_json else "\n".join(_lines(linted)))
    return 1 if failed else 0


def _lines(linted: Linted) -> Iterator[str]:
    yield f"{'ok    ' if linted.passed else 'FAILED'}  {linted.problem} [{linted.workload}]"
    for complaint in linted.complaints:
        fine = f" (allowed: {complaint.allowed})" if complaint.allowed else ""
        yield units.printable(f"        {complaint.check}: {complaint.text}{fine}")
