"""A leaderboard as CSV for machines, Markdown for GitHub and a table for the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from kbench import units
from kbench.records import Speedup
from kbench.report import summary
from kbench.report.compare import Comparison
from kbench.report.standing import Group, Standing
from kbench.report.summary import Best, Summary

Cells = list[str]
Fast = tuple[float, ...]
COLUMNS = (
    "device", "torch", "cuda", "problem", "workload", "set", "solution", "rank", "verdict", "baseline", "speedup",
    "speedup_low", "speedup_high", "median_ms", "median_low_ms", "median_high_ms", "baseline_ms", "attestation",
    "key", "finished", "reason",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t")
MOST_LISTED = 40
NUMERIC = ("rank", "speedup", "mean speedup", "time")
Table = tuple[str, Cells, list[Cells]]  # title, head, rows


def as_csv(groups: Sequence[Group]) -> str:
    """One row a pair and workload; numbers in full, absent ones empty."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(COLUMNS)
    for group in groups:
        where = _joined(device.name for device in group.devices)
        torch = _joined(environment.torch for environment in group.environments)
        cuda = _joined(environment.cuda or "" for environment in group.environments)
        for one in group.standings:
            row = (where, torch, cuda, *_csv_row(one, group.baseline))
            writer.writerow(["" if value is None else _harmless(value) for value in row])
    return sink.getvalue()


def as_markdown(groups: Sequence[Group], title: str, strict: bool = False, fast: Fast = summary.FAST) -> str:
    """Tables that GitHub shows well; the longest folded away."""
    lines = [f"# {_escaped(title)}", ""]
    for group in groups:
        lines += [f"**{_escaped(_where(group))}**", ""]
        lines += [f"- {_escaped(note)}" for note in (*_meaning(group, strict), *group.notes)] + [""]
        for name, head, rows in tables(group, strict, fast):
            folded = len(rows) > MOST_LISTED
            lines += [f"## {name}", ""] + (["<details><summary>show</summary>", ""] if folded else [])
            lines += _markdown(head, rows) + (["", "</details>"] if folded else []) + [""]
    if not groups:
        lines += ["No results.", ""]
    return "\n".join(lines)


def tables(group: Group, strict: bool = False, fast: Fast = summary.FAST) -> list[Table]:
    """Sets, the best of each problem, then every result."""
    return [
        ("Sets", _summary_head(fast, "set"), [_summary_row(one, fast) for one in summary.sets(group, strict, fast)]),
        ("Best of each problem", [*_BEST], [_best_row(one) for one in summary.problems(group)]),
        ("Results", [*_RESULT], [_result_row(one) for one in group.standings]),
    ]


def by_solution(group: Group, strict: bool = False, fast: Fast = summary.FAST) -> Table:
    rows = [_summary_row(one, fast) for one in summary.solutions(group, strict, fast)]
    return "Solutions", _summary_head(fast, "solution"), rows


def heading(group: Group, strict: bool) -> Iterator[str]:
    """What the tables of a group are about."""
    yield _where(group)
    yield from (*_meaning(group, strict), *group.notes)


_BEST = ("problem", "workload", "passed", "best solution", "speedup", "interval", "time")
_RESULT = ("rank", "problem", "workload", "solution", "verdict", "speedup", "interval", "time", "key")


def _where(group: Group) -> str:
    names = _joined(device.name for device in group.devices)
    threads = _joined(units.plural(device.threads, "thread") for device in group.devices if device.threads)
    parts = [names, threads, *(f"torch {one.torch}" for one in group.environments)]
    parts += [f"CUDA {one.cuda}" for one in group.environments if one.cuda]
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _meaning(group: Group, strict: bool) -> Iterator[str]:
    if len(group.devices) > 1 or len(group.environments) > 1:
        yield (
            f"mixed, as asked: {units.plural(len(group.devices), 'device')} and "
            f"{units.plural(len(group.environments), 'environment')}, whose times cannot be compared"
        )
    yield f"speedup over the {group.baseline} baseline, with its 95 % interval; who shares a rank cannot be told apart"
    counted = "failures and missing results count as 1x" if strict else "failures do not count in the mean"
    yield f"a set has its best sample of each problem; faster than p only where the whole interval is; {counted}"


def _summary_head(fast: Iterable[float], what: str) -> Cells:
    return ["rank", what, "passed", *(f"fast {p:g}x" for p in fast), "mean speedup", "interval", "not passed"]


def _summary_row(one: Summary, fast: Iterable[float]) -> Cells:
    failed = ", ".join(f"{count} {verdict}" for verdict, count in one.verdicts.items())
    shares = [f"{one.fast[p]} ({one.fast[p] / one.cases:.0%})" for p in fast]
    passed = f"{one.passed} of {one.cases}"
    return [str(one.rank), one.name, passed, *shares, *_speedup(one.geomean), failed]


def _best_row(one: Best) -> Cells:
    tried = f"{one.passed} of {one.results}"
    if one.best is None:
        return [one.problem, one.workload, tried, "", "", "", ""]
    return [one.problem, one.workload, tried, named(one.best), *_speedup(one.best.speedup), _time(one.best)]


def _result_row(one: Standing) -> Cells:
    rank = str(one.rank) if one.rank else ""
    row = [rank, one.problem, one.workload, named(one), one.verdict, *_speedup(one.speedup), _time(one)]
    return [*row, one.key or ""]


def named(one: Standing | Comparison) -> str:
    """The solution's name without the problem's, which stands beside it."""
    short = one.solution.removeprefix(one.problem + "/")
    return f"{one.set}: {short}" if one.set else short


def _speedup(of: Speedup | None) -> tuple[str, str]:
    return ("", "") if of is None else (f"{of.value:.2f}x", f"[{of.ci95[0]:.2f}, {of.ci95[1]:.2f}]")


def _time(one: Standing) -> str:
    return units.duration(one.median_ms) if one.median_ms is not None else ""


def _csv_row(one: Standing, baseline: str) -> tuple[object, ...]:
    speedup = (one.speedup.value, *one.speedup.ci95) if one.speedup else (None, None, None)
    times = (one.median_ms, *(one.ci95_ms or (None, None)))
    place = (one.problem, one.workload, one.set, one.solution, one.rank, one.verdict, baseline)
    return (*place, *speedup, *times, one.baseline_ms, one.attestation, one.key, one.finished, one.reason)


def _harmless(value: object) -> object:
    """A spreadsheet runs what begins like a formula; names and reasons are chosen by others."""
    if not isinstance(value, str):
        return value
    text = units.printable(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def _markdown(head: Cells, rows: list[Cells]) -> list[str]:
    numeric = ["-:" if name in NUMERIC else "-" for name in head]
    lines = [head, numeric, *([_escaped(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _escaped(text: str) -> str:
    safe = units.printable(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for sign in "|`*_[]":
        safe = safe.replace(sign, f"\\{sign}")
    return safe


def _joined(parts: Iterable[str]) -> str:
    return " + ".join(dict.fromkeys(part for part in parts if part))
