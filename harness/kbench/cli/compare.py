"""`kbench compare A B`: what changed between two runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import msgspec

from kbench import units
from kbench.cli import tables
from kbench.errors import UsageFault
from kbench.records import Result, comparable
from kbench.report import board, compare
from kbench.report.compare import Compared, Comparison, Name
from kbench.stats import GPU_TERM, PROCESS_TERM
from kbench.sweep.store import read

HELP = f"""Compare the runs A (before) and B (after), pair by pair. Exit 1 where one is SLOWER or BROKE, for use in CI.

SAME: the ratio of times lies within 2 % of 1, with its whole interval. FASTER, SLOWER: it lies wholly outside.
UNCLEAR: neither can be said, which is usual on a CPU: there two processes differ by {PROCESS_TERM["cpu"]:.0%} each,
unless --processes measured less. FIXED: it passes now. BROKE: it does not any more. The interval holds a share for what
differs between two processes that run the same code, {GPU_TERM:.0%} for two GPUs of the same name, and what the eager
baseline, the same code in both runs, gained or lost from one to the other: where the machine was slower, a solution
that was slower with it is no worse. On a GPU that counts only where a result warns of noise, clocks, others that use
the GPU, or a host that it waits for.
"""


@click.command("compare", help=HELP, short_help="Say what changed between two runs.")
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@click.option("--all", "show_all", is_flag=True, help="Also list pairs that stayed the SAME.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a pair on stdout.")
def command(before: Path, after: Path, show_all: bool, as_json: bool) -> int:
    old, new = read(before), read(after)
    _warn(old, new)
    compared = compare.compare(old, new)
    if not compared.pairs:
        raise UsageFault("the two runs have no pair in common", "compare runs of the same pairs on the same device")
    if as_json:
        for one in compared.pairs:
            click.echo(msgspec.json.encode(one))
    else:
        _show(compared, show_all)
    return 1 if compared.is_worse else 0


def _show(compared: Compared, show_all: bool) -> None:
    shown = [one for one in compared.pairs if show_all or one.change != "SAME"]
    if shown:
        head = ["change", "problem", "workload", "solution", "before", "after", "ratio", "interval"]
        tables.table("", head, [_row(one) for one in shown])
    counts = Counter(one.change for one in compared.pairs)
    said = ", ".join(f"{count} {change}" for change, count in sorted(counts.items()))
    click.echo(f"{units.plural(len(compared.pairs), 'pair')}: {said}")
    for where, names in (("A", compared.only_before), ("B", compared.only_after)):
        if names:
            click.echo(f"only in {where}: {units.plural(len(names), 'pair')}, as {_named(names[0])}")


def _row(one: Comparison) -> list[str]:
    ratio = one.ratio
    figures = [f"{ratio.value:.3f}x", f"[{ratio.ci95[0]:.3f}, {ratio.ci95[1]:.3f}]"] if ratio else ["", ""]
    times = [_said(one.before, one.before_ms), _said(one.after, one.after_ms)]
    return [one.change, one.problem, one.workload, board.named(one), *times, *figures]


def _said(verdict: str, ms: float | None) -> str:
    return units.duration(ms) if verdict == "passed" and ms is not None else verdict


def _named(name: Name) -> str:
    problem, workload, of_set, solution, device = name
    return units.printable(f"{problem} [{workload}] {of_set + ': ' if of_set else ''}{solution} on {device}")


def _warn(old: list[Result], new: list[Result]) -> None:
    """What else changed beside the solutions."""
    versions = {one.problem.id: one.problem.sha256 for one in old}
    changed = {one.problem.id for one in new if versions.get(one.problem.id, one.problem.sha256) != one.problem.sha256}
    if changed:
        click.echo(f"kbench: problems that changed in between: {', '.join(sorted(changed))}", err=True)
    before, after = ({repr(comparable(one.device, one.environment)[1]) for one in run} for run in (old, new))
    if before != after:
        click.echo("kbench: the environments differ: torch, CUDA, compilers, Python or kbench itself", err=True)
