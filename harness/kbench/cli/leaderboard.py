"""`kbench leaderboard RESULTS...`: tables of one run or several."""

from __future__ import annotations

from pathlib import Path

import click

from kbench.cli import tables
from kbench.errors import UsageFault
from kbench.options import nearest
from kbench.records import Result
from kbench.report import board
from kbench.report.standing import Group, groups
from kbench.report.summary import FAST
from kbench.settings import EAGER
from kbench.sweep.store import read_all

VIEWS = ("set", "problem", "solution", "result")
FORMATS = ("table", "markdown", "csv")
HELP = """Show who stands where in RESULTS: results.jsonl files, or the folders of runs. Several are merged.

The newest result of each pair counts, against the newest version of its problem; results made with --seed do not.
Results of different GPUs or environments make tables of their own.

Ranks: one more than the number of those that are surely faster, so who cannot be told apart shares a place. Sets are
ranked by the number of problems solved, then by the geometric mean of the speedups.
"""


@click.command("leaderboard", help=HELP, short_help="Rank sets and solutions of one or several runs.")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--against", default=EAGER, show_default=True, metavar="BASELINE", help="What speedups are over.")
@click.option(
    "--by", "views", multiple=True, type=click.Choice(VIEWS), help="Which tables; repeatable.  [set, problem]"
)
@click.option(
    "--fast",
    multiple=True,
    type=click.FloatRange(min=0),
    metavar="P",
    help=f"Count what is faster than P; repeatable.  [{', '.join(f'{least:g}' for least in FAST)}]",
)
@click.option("--strict", is_flag=True, help="Failures and missing results count as 1x in the mean.")
@click.option("--mix", is_flag=True, help="One table for all GPUs and environments, which then says so.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How it is written."
)
@click.option("--title", default="Leaderboard", show_default=True, help="Of the Markdown.")
def command(
    results: tuple[Path, ...],
    against: str,
    views: tuple[str, ...],
    fast: tuple[float, ...],
    strict: bool,
    mix: bool,
    form: str,
    title: str,
) -> int:
    found = read_all(results)
    _demand_baseline(found, against)
    made = groups(found, against, mix)
    wanted = tuple(sorted(set(fast))) or FAST
    if form == "csv":
        click.echo(board.as_csv(made), nl=False)
    elif form == "markdown":
        click.echo(board.as_markdown(made, title, strict, wanted), nl=False)
    else:
        _show(made, views or ("set", "problem"), strict, wanted)
    return 0


def _show(made: list[Group], views: tuple[str, ...], strict: bool, fast: tuple[float, ...]) -> None:
    if not made:
        click.echo("no results that count: those made with --seed do not")
    for group in made:
        sets, problems, results = board.tables(group, strict, fast)
        by_view = {"set": sets, "problem": problems, "result": results}
        by_view["solution"] = board.by_solution(group, strict, fast)
        tables.show(group, [by_view[view] for view in VIEWS if view in views], strict)


def _demand_baseline(found: list[Result], against: str) -> None:
    known = sorted({name for result in found for name in result.baselines})
    if known and against not in known:
        raise UsageFault(
            f"no result has the baseline {against!r}{nearest(against, known)}", f"there are {', '.join(known)}"
        )
