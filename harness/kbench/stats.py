"""What decides numbers: medians, intervals, paired ratios, and when to stop. Plain values in and out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 1000
FEW = 10
TAIL = 0.025
# Two processes that run the same code differ by where their memory happens to lie. Where that spread was
# not measured (`--processes`), these shares widen every interval between two processes. On H200s the medians of 95
# of 100 pairs differed by less than 0.7 %, which is two such terms, from one run to the next on the same GPU.
# What waits for its host differs by a third and more.
PROCESS_TERM = {"cuda": 0.005, "cpu": 0.06, "host": 0.4}
# Two GPUs of one name and clock: of 96 pairs timed on one H200 and then on another, 95 % differed by less than 1.3 %,
# which is this and two processes' terms.
GPU_TERM = 0.011
# The relative half-width of a speedup's interval at which more rounds would say no more: what differs between two
# processes is no less.
TARGET = {"cuda": 0.005, "cpu": 0.008}
# And of the solution's own times, which are compared between runs: a device that still warms up is no steady state.
OWN_TARGET = {"cuda": 0.005, "cpu": math.inf}
# Below six pairs even the extremes are no 95 % interval; on a GPU ten cost little.
FEWEST_PAIRS = {"cuda": 10, "cpu": 6}
LOOK_FROM = {"cuda": 10, "cpu": 20}


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float

    @property
    def relative_half_width(self) -> float:
        return (self.high - self.low) / 2 / self.value if self.value else math.inf

    def widened(self, below: float, above: float) -> Estimate:
        """The interval with independent relative errors added in quadrature, to each side its own."""
        return Estimate(
            self.value,
            self.value - math.hypot(self.value - self.low, below * self.value),
            self.value + math.hypot(self.high - self.value, above * self.value),
        )


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def undisturbed(values: Sequence[float]) -> float:
    """The lower quartile: what a few samples of the same thing say where disturbances only ever add."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 4]


def idle_round(kind: str, after_others: Sequence[float], after_own: Sequence[float]) -> float:
    """What a round costs without the work, from samples where another process worked before it, or its own.

    On a GPU those are two different times, and rounds that count are half the one and half the other. A few samples
    each: the quicker ones are those that nothing disturbed.
    """
    if kind == "cpu":
        return min([*after_others, *after_own])
    return statistics.fmean(undisturbed(part) for part in (after_others, after_own) if part)


def bootstrap(values: Sequence[float]) -> Estimate:
    """The median with its 95 % percentile interval. Seeded: the same samples give the same interval."""
    center = median(values)
    if len(values) < 2:
        return Estimate(center, center, center)
    if len(values) < FEW:
        # Resampling so few says too little; their extremes hold the median of the population more surely.
        return Estimate(center, min(values), max(values))
    import numpy

    draw = numpy.random.default_rng(len(values))
    picked = draw.integers(len(values), size=(RESAMPLES, len(values)))
    resampled = numpy.sort(numpy.median(numpy.asarray(values)[picked], axis=1))
    low, high = float(resampled[int(TAIL * RESAMPLES)]), float(resampled[int((1 - TAIL) * RESAMPLES) - 1])
    return Estimate(center, min(low, center), max(high, center))


def paired_speedup(baseline: Sequence[float], solution: Sequence[float]) -> Estimate:
    """Median of the ratios of rounds that ran next to each other; the pair is the unit of resampling."""
    return bootstrap([before / after for before, after in zip(baseline, solution, strict=True)])


def log_distance(low: float, high: float) -> float:
    """How far apart two times or ratios are as factors; infinite where one of them is nothing."""
    return math.log(high / low) if low > 0 else math.inf


def process_spread(medians: Sequence[float]) -> float | None:
    """Relative standard deviation between processes; None where only one process ran."""
    if len(medians) < 2:
        return None
    return statistics.stdev(medians) / statistics.fmean(medians)


@dataclass(frozen=True)
class StopRule:
    """When a series of paired rounds has said enough."""

    budget_s: float
    target: float
    own_target: float = math.inf
    fewest_pairs: int = 10
    min_pairs: int = 20
    max_pairs: int = 400
    min_calls: int = 40
    look_every: int = 5  # resampling takes time, and looking rarely stops less often by luck

    def verdict(self, ratios: Sequence[float], spent_s: float, calls: int, own: Sequence[float] = ()) -> str | None:
        """`tight`, `budget` or `rounds` when the series should end, None while it should go on.

        `own` are the solution's times, one a round.
        """
        pairs = len(ratios)
        if pairs < self.fewest_pairs or calls < self.min_calls:
            return None
        if spent_s >= self.budget_s:
            return "budget"
        if pairs >= self.max_pairs:
            return "rounds"
        due = pairs >= self.min_pairs and pairs % self.look_every == 0
        return "tight" if due and self._is_tight(ratios, own) else None

    def _is_tight(self, ratios: Sequence[float], own: Sequence[float]) -> bool:
        if not bootstrap(ratios).relative_half_width <= self.target:  # what is no number is not tight
            return False
        return math.isinf(self.own_target) or bootstrap(own).relative_half_width <= self.own_target


def stop_rule(kind: str, budget_s: float) -> StopRule:
    """What a device of this kind takes."""
    return StopRule(
        budget_s=budget_s,
        target=TARGET[kind],
        own_target=OWN_TARGET[kind],
        fewest_pairs=FEWEST_PAIRS[kind],
        min_pairs=LOOK_FROM[kind],
    )
