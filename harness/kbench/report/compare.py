"""Two runs, pair by pair: the same, faster, slower, unclear, fixed or broke. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from kbench.records import Record, Result, Speedup, Timing, Verdict, comparable
from kbench.report.standing import counting
from kbench.settings import EAGER
from kbench.stats import GPU_TERM, log_distance

Change = Literal["SAME", "FASTER", "SLOWER", "UNCLEAR", "FIXED", "BROKE"]
WORSE: tuple[Change, ...] = ("SLOWER", "BROKE")
ALIKE = 0.02  # times that differ by less are the same for whoever runs the kernel
UNSTEADY = ("noisy", "host", "throttled", "clocks", "shared", "busy")  # warnings
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


def ratio_between(old: Result, new: Result) -> Speedup | None:
    """Where both were timed."""
    if not (old.timing and new.timing):
        return None
    other_gpu = GPU_TERM if old.device.uuid != new.device.uuid else 0.0
    return _ratio(old.timing, new.timing, other_gpu, _drift(old, new))


def _ratio(before: Timing, after: Timing, other_gpu: float, drift: float) -> Speedup:
    """Of medians from different processes, so each side carries what differs between processes."""
    value = before.median_ms / after.median_ms
    terms = math.hypot(before.process_term, after.process_term, other_gpu)
    (old_below, old_above), (new_below, new_above) = _shares(before), _shares(after)
    below = math.hypot(old_below, new_above, terms, min(drift, 0.0))
    above = math.hypot(old_above, new_below, terms, max(drift, 0.0))
    return Speedup(value, (value * math.exp(-below), value * math.exp(above)))


def _drift(old: Result, new: Result) -> float:
    """The logarithm of how much slower the machine was after, as the eager baseline says.

    It took turns with the solution. Neighbours of a virtual machine can slow it by half for seconds, and only work
    that is known tells such a phase from a slower solution. They do not slow a GPU: there it counts only where
    something was seen that does.
    """
    if old.device.kind == "cuda" and not any(warn.code in UNSTEADY for warn in (*old.warnings, *new.warnings)):
        return 0.0
    before, after = old.baselines.get(EAGER), new.baselines.get(EAGER)
    alike = comparable(old.device, old.environment) == comparable(new.device, new.environment)
    if not (before and after and alike) or old.problem.sha256 != new.problem.sha256:
        return 0.0
    return math.log(after.median_ms / before.median_ms)


def _shares(timing: Timing) -> tuple[float, float]:
    """How far the interval reaches down and up, on the scale of ratios."""
    low, high = timing.ci95_ms
    return log_distance(low, timing.median_ms), log_distance(timing.median_ms, high)


def _compared(name: Name, old: Result, new: Result) -> Comparison:
    ratio = ratio_between(old, new) if old.passed and new.passed else None
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
