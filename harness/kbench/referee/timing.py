"""Times sides against each other in alternating rounds, every call of which is verified."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kbench.device.telemetry import Probe
from kbench.records import Telemetry
from kbench.referee import busy
from kbench.referee.busy import Looks
from kbench.referee.contest import Contest, Done
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.side import Mode, Run, Side
from kbench.referee.size import Size
from kbench.stats import StopRule, idle_round, median, undisturbed

# A round without work first, and in the last of every so many pairs. An odd number: what was timed before it then is in
# turn another process and its own, after which on a GPU it takes some 60 us less, with the host's caches warm. Rounds
# that count meet both, and so the shortest series of ten pairs has two samples of each.
NULLS_EVERY = {"cuda": 3, "cpu": 1}
MOST_SINGLES = 8  # of a round's calls: each is filled, let go and waited for by itself
SINGLES_EVERY = 10
# On a CPU one series may have only six rounds by this, and mostly does; more would not narrow what neighbours do to it.
OVERHEAD_WEIGHT = {"cpu": 2.75, "cuda": 1.5}


@dataclass
class Rounds:
    """What one side did in the rounds that count."""

    walls_s: list[float] = field(default_factory=list)
    singles_s: list[float] = field(default_factory=list)
    claims_ms: list[tuple[float, ...]] = field(default_factory=list)


@dataclass
class Series:
    """One run of paired rounds in one set of workers."""

    sides: dict[str, Rounds]
    size: Size
    inputs: str
    null_batch_s: float = 0.0
    null_single_s: float = 0.0
    flush_s: float = 0.0  # how long one flush lasts
    stopped: str = ""
    spent_s: float = 0.0
    looks: Looks = field(default_factory=dict)
    telemetry: list[Telemetry] = field(default_factory=list)

    def batch_ms(self, name: str) -> list[float]:
        """Per round, the referee's clock less what a round without work costs, by the calls."""
        return [(wall - self.null_batch_s) / self.size.calls * 1e3 for wall in self.sides[name].walls_s]

    def singles_ms(self, name: str) -> list[float]:
        """The same of each call that was let go by itself; none on the CPU."""
        return [(wall - self.null_single_s) * 1e3 for wall in self.sides[name].singles_s]

    def claimed_ms(self, name: str) -> list[float]:
        return [median(claims) for claims in self.sides[name].claims_ms]


def run_series(
    sides: list[Side],
    contest: Contest,
    rule: StopRule,
    next_seed: Callable[[], int],
    probe: Probe,
    in_time: Callable[[], None],
) -> Series:
    """Rounds of all sides in turn, the order reversed every time, until the rule says stop.

    `sides` begins with the solution; the last one, a baseline, also runs the rounds without work. Raises Busy where
    something else works on the GPU in between: then no time means anything.
    """
    series = Series({side.name: Rounds() for side in sides}, contest.size, contest.how)
    # Warm, and verified like the others. The solution is first: what it leaves at work is seen at once.
    _round(sides[::-1], contest, next_seed(), 1, series.looks)
    nulls: tuple[list[float], list[float]] = ([], [])  # where another process worked before it, and where its own did
    null_singles: list[float] = []
    began = time.monotonic()
    pair, kind = 0, contest.device.kind
    while not series.stopped:
        in_time()
        if pair == 0 or pair % NULLS_EVERY[kind] == NULLS_EVERY[kind] - 1:
            walls, repeated = _null(sides, contest, next_seed(), series.looks)
            # The side that runs these was the last one in the warm round and in even pairs.
            nulls[repeated or pair == 0 or pair % 2 == 1].extend(walls)
        if pair % SINGLES_EVERY == 0:
            null_singles += _single(sides, contest, next_seed(), series)
        runs = _round(sides, contest, next_seed(), pair, series.looks)
        for name, run in runs.items():
            series.sides[name].walls_s.append(run.walls_s[0])
            series.sides[name].claims_ms.append(run.finished.claims_ms)
            series.spent_s += run.walls_s[0]
        busy.demand_few(series.looks.values())
        sample = probe.sample()
        series.telemetry += [sample] if sample else []
        series.null_batch_s = idle_round(kind, *nulls)
        series.null_single_s = undisturbed(null_singles) if null_singles else 0.0
        pair += 1
        # Filling and verifying take time beside the timed work: that too is bounded by the budget.
        beside = (time.monotonic() - began - series.spent_s) * OVERHEAD_WEIGHT[kind]
        calls = min(side.calls for side in sides)
        own = _figures(series, sides[0])
        series.stopped = rule.verdict(_ratios(series, sides), max(series.spent_s, beside), calls, own) or ""
    series.flush_s = contest.watch.calm_s
    return series


def _ratios(series: Series, sides: list[Side]) -> list[float]:
    """Paired ratios of the first baseline and the solution, for the stop rule."""
    before, after = _figures(series, sides[1]), _figures(series, sides[0])
    return [left / right if right > 0 else math.inf for left, right in zip(before, after, strict=True)]


def _figures(series: Series, side: Side) -> list[float]:
    """A side's times for the stop rule, one a round."""
    return series.claimed_ms(side.name) if side.device.kind == "cuda" else series.batch_ms(side.name)


def _round(
    sides: list[Side], contest: Contest, seed: int, pair: int, looks: Looks, mode: Mode = "batch"
) -> dict[str, Run]:
    """One round of each side on the same contents, every call of it verified."""
    stacks, generator = contest.contents(seed)
    span = _span(contest.size, pair)
    if mode == "single":
        span = slice(span.start, span.start + min(MOST_SINGLES, contest.size.calls))
    done = []
    for side in sides if pair % 2 == 0 else reversed(sides):
        with _alone(side, sides), _watched(side, contest, looks, side.name):
            run = side.round(mode, stacks, span, seed % 2**31, generator)
            done.append(_taken(side, run, span))
        if not run.flushed:
            raise side.blamed(_no_flush())
    contest.verify(stacks, sorted(done, key=lambda one: one.side.is_solution))
    return {one.side.name: one.run for one in done}


@contextlib.contextmanager
def _alone(side: Side, sides: list[Side]) -> Iterator[None]:
    """While one side is timed the others' processes are stopped: they cannot slow it down."""
    others = [other for other in sides if other is not side]
    for other in others:
        other.handle.freeze()
    try:
        yield
    finally:
        for other in others:
            other.handle.thaw()


def _taken(side: Side, run: Run, span: slice) -> Done:
    assert side.arena is not None
    # A baseline runs the problem's own file: on CUDA, where memory counts, what it left is read in place.
    in_place = not side.is_solution and side.device.kind == "cuda"
    taken = [view[span] for view in side.arena.outputs] if in_place else side.arena.take(span)
    return Done(side, run, taken, span)


@contextlib.contextmanager
def _watched(side: Side, contest: Contest, looks: Looks, kind: str) -> Iterator[None]:
    """A baseline's round on a GPU, where the solution, which stands still, may have left something at work."""
    assert side.arena is not None
    if side.is_solution or not side.arena.plan.flush_bytes:
        yield
        return
    contest.watch.demand_calm(side.arena.flush_once, busy.WAIT_S)
    yield
    looks.setdefault(kind, []).append(not contest.watch.sees_calm(side.arena.flush_once))


def _null(
    sides: list[Side], contest: Contest, seed: int, looks: Looks, mode: Mode = "null-batch"
) -> tuple[tuple[float, ...], bool]:
    """What a round costs without the work, and whether it was run again: one that ended beside somebody's work is.

    Filling, flush, copies, going and coming back.
    """
    stacks, generator = contest.idle(seed)
    span = _span(contest.size, 0)
    if mode == "null-single":
        span = slice(span.start, span.start + min(MOST_SINGLES, contest.size.calls))
    repeated = False
    while True:
        with _alone(sides[-1], sides), _watched(sides[-1], contest, looks, mode):
            run = sides[-1].round(mode, stacks, span, seed % 2**31, generator)
        seen = looks.get(mode)  # None where nobody looks: on the CPU
        if not (seen and seen[-1]):
            return run.walls_s, repeated
        busy.demand_few([seen])
        repeated = True


def _single(sides: list[Side], contest: Contest, seed: int, series: Series) -> tuple[float, ...]:
    """Single calls, on CUDA only: a second figure that no trick with a batch can reach."""
    if sides[0].device.kind != "cuda":
        return ()
    for name, run in _round(sides, contest, seed, 0, series.looks, "single").items():
        series.sides[name].singles_s += run.walls_s
    return _null(sides, contest, seed, series.looks, "null-single")[0]


def _span(size: Size, pair: int) -> slice:
    """Rounds go around the slots, so that on the CPU they never meet a warm cache."""
    start = pair % (size.slots // size.calls) * size.calls
    return slice(start, start + size.calls)


def _no_flush() -> Stopped:
    return Stopped(Ruling("cheated", "it did not evict the cache before each timed call, as the protocol asks"))
