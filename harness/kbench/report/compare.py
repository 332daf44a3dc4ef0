"""Two runs, pair by pair: the same, faster, slower, unclear, fixed or broke. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from kbench.records import Record, Result, Speedup, Timing, Verdict
from kbench.report.standing import counting
from kbench.stats import log_distance

Change = Literal["SAME", "FASTER", "SLOWER", "UNCLEAR", "FIXED", "BROKE"]
WORSE: tuple[Change, ...] = ("SLOWER", "BROKE")
ALIKE = 0.02  # times that differ by less are the same for whoever runs the kernel
Name = tuple[str, str, str | None, str, str]  # problem, workload, set, solution, device


class Comparison(Record, frozen=True):
    """What became of one pair. `ratio` is the old time over the new one: above 1 is faster."""

    problem: str
    workload: str
    set: str | None
    solution: str
    device: str
    change: Change
    before: Verdict
    after: Verdict
    before_ms: float | None
    after_ms: float | None
    ratio: Speedup | None


class Compared(Record, frozen=True):
    pairs: tuple[Comparison, ...]
    only_before: tuple[Name, ...]
    only_after: tuple[Name, ...]

    @property
    def is_worse(self) -> bool:
        return any(one.change in WORSE for one in self.pairs)


def compare(before: Iterable[Result], after: Iterable[Result]) -> Compared:
    """The newest result of each pair in both, by name."""
    old, new = _by_name(before), _by_name(after)
    return Compared(
        pairs=tuple(_compared(name, old[name], new[name]) for name in sorted(old.keys() & new.keys(), key=str)),
        only_before=tuple(sorted(old.keys() - new.keys(), key=str)),
        only_after=tuple(sorted(new.keys() - old.keys(), key=str)),
    )


def judge(ratio: Speedup) -> Change:
    """By the whole interval: within 2 % of 1, outside of that, or neither."""
    low, high = ratio.ci95
    if low >= 1 - ALIKE and high <= 1 + ALIKE:
        return "SAME"
    if low > 1 + ALIKE:
        return "FASTER"
    return "SLOWER" if high < 1 - ALIKE else "UNCLEAR"


def ratio_of(before: Timing, after: Timing) -> Speedup:
    """Of medians from different processes, so each side carries what differs between processes."""
    value = before.median_ms / after.median_ms
    terms = math.hypot(before.process_term, after.process_term)
    (old_below, old_above), (new_below, new_above) = _shares(before), _shares(after)
    below, above = math.hypot(old_below, new_above, terms), math.hypot(old_above, new_below, terms)
    return Speedup(value, (value * math.exp(-below), value * math.exp(above)))


def _shares(timing: Timing) -> tuple[float, float]:
    """How far the interval reaches down and up, on the scale of ratios."""
    low, high = timing.ci95_ms
    return log_distance(low, timing.median_ms), log_distance(timing.median_ms, high)


def _compared(name: Name, old: Result, new: Result) -> Comparison:
    both = old.passed and new.passed and old.timing and new.timing
    ratio = ratio_of(old.timing, new.timing) if both and old.timing and new.timing else None
    if old == new:
        ratio = Speedup(1.0, (1.0, 1.0)) if ratio else None  # one and the same measurement
    return Comparison(
        *name,
        change=judge(ratio) if ratio else _by_verdict(old, new),
        before=old.verdict,
        after=new.verdict,
        before_ms=old.timing.median_ms if old.timing else None,
        after_ms=new.timing.median_ms if new.timing else None,
        ratio=ratio,
    )


def _by_verdict(old: Result, new: Result) -> Change:
    if old.passed == new.passed:
        return "SAME"
    return "FIXED" if new.passed else "BROKE"


def _by_name(results: Iterable[Result]) -> dict[Name, Result]:
    newest, _ = counting(results)
    return {_name(one): one for one in newest}


def _name(one: Result) -> Name:
    of_set = one.run.set if one.run else None
    return one.problem.id, one.problem.workload, of_set, one.solution.id, one.device.name
