"""Times sides against each other in alternating rounds, every call of which is verified."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator

from kbench.device.telemetry import Probe
from kbench.referee import busy
from kbench.referee.contest import Contest, Done
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.series import Rounds, Series
from kbench.referee.side import Mode, Run, Side
from kbench.stats import StopRule, idle_round, undisturbed

# A round without work first, and in the last of every so many pairs. An odd number: what was timed before it then is in
# turn another process and its own, after which on a GPU it takes some 60 us less, with the host's caches warm. Rounds
# that count meet both, and so the shortest series of ten pairs has two samples of each.
NULLS_EVERY = {"cuda": 3, "cpu": 1}
MOST_SINGLES = 8  # of a round's calls: each is filled, let go and waited for by itself
SINGLES_EVERY = 10
# On a CPU one series may have only six rounds by this, and mostly does; more would not narrow what neighbours do to it.
OVERHEAD_WEIGHT = {"cpu": 3.5, "cuda": 1.5}


class Timer:
    """One series, once: rounds of all sides in turn, the order reversed every time.

    `sides` begins with the solution; the last one, a baseline, also runs the rounds without work.
    """

    def __init__(self, sides: list[Side], contest: Contest, next_seed: Callable[[], int], probe: Probe) -> None:
        self.sides = sides
        self.contest = contest
        self.next_seed = next_seed
        self.probe = probe
        self.kind = contest.device.kind
        self.series = Series({side.name: Rounds() for side in sides}, contest.size, contest.contents.how)
        # Where another process worked before it, and where its own did.
        self._nulls: tuple[list[float], list[float]] = ([], [])
        self._null_singles: list[float] = []

    def run(self, rule: StopRule, demand_time: Callable[[], None]) -> Series:
        """Until the rule says stop. Raises Busy where something else works on the GPU in between: then no time means
        anything.
        """
        with self._all_still():
            # Warm, and verified like the others. The solution is first: what it leaves at work is seen at once.
            self._round(self.sides, self._span(1), self.next_seed())
            began = time.monotonic()
            pair = 0
            while not self.series.stopped:
                demand_time()
                self._pair(pair)
                pair += 1
                self.series.stopped = self._verdict(rule, time.monotonic() - began) or ""
        self.series.flush_s = self.contest.watch.calm_s
        return self.series

    def _pair(self, pair: int) -> None:
        if pair == 0 or pair % NULLS_EVERY[self.kind] == NULLS_EVERY[self.kind] - 1:
            walls, repeated = self._null(self._span(0), self.next_seed())
            # The side that runs these was the last one in the warm round and in even pairs.
            self._nulls[repeated or pair == 0 or pair % 2 == 1].extend(walls)
        if pair % SINGLES_EVERY == 0:
            self._singles(self.next_seed())
        runs = self._round(self.sides if pair % 2 == 0 else self.sides[::-1], self._span(pair), self.next_seed())
        self.series.add(runs)
        busy.demand_few(self.series.looks.values())
        sample = self.probe.sample()
        self.series.telemetry += [sample] if sample else []
        self.series.null_batch_s = idle_round(self.kind, *self._nulls)
        self.series.null_single_s = undisturbed(self._null_singles) if self._null_singles else 0.0

    def _verdict(self, rule: StopRule, elapsed_s: float) -> str | None:
        # Filling and verifying take time beside the timed work: that too is bounded by the budget.
        beside = (elapsed_s - self.series.spent_s) * OVERHEAD_WEIGHT[self.kind]
        calls = min(side.calls for side in self.sides)
        own, against = (self._figures(side) for side in self.sides[:2])
        # Paired ratios of the first baseline and the solution.
        ratios = [left / right if right > 0 else math.inf for left, right in zip(against, own, strict=True)]
        return rule.verdict(ratios, max(self.series.spent_s, beside), calls, own)

    def _figures(self, side: Side) -> list[float]:
        """A side's times for the stop rule, one a round."""
        return self.series.claimed_ms(side.name) if self.kind == "cuda" else self.series.batch_ms(side.name)

    def _round(self, sides: Iterable[Side], span: slice, seed: int, mode: Mode = "batch") -> dict[str, Run]:
        """One round of each side, in this order, on the same contents, every call of it verified."""
        stacks, generator = self.contest.contents.fresh(seed)
        done = []
        for side in sides:
            with self._awake(side), self._watched(side, side.name):
                run = side.round(mode, stacks, span, seed % 2**31, generator)
            done.append(_taken(side, run, span))  # only now: what its threads still spin for would slow the copying
            if not run.flushed:
                raise side.blamed(_no_flush())
        self.contest.verify(stacks, sorted(done, key=lambda one: one.side.is_solution))
        return {one.side.name: one.run for one in done}

    def _null(self, span: slice, seed: int, mode: Mode = "null-batch") -> tuple[tuple[float, ...], bool]:
        """What a round costs without the work, and whether it was run again: one that ended beside somebody's work is.

        Filling, flush, copies, going and coming back.
        """
        stacks, generator = self.contest.contents.idle(seed)
        side, repeated = self.sides[-1], False
        while True:
            with self._awake(side), self._watched(side, mode):
                run = side.round(mode, stacks, span, seed % 2**31, generator)
            seen = self.series.looks.get(mode)  # None where nobody looks: on the CPU
            if not (seen and seen[-1]):
                return run.walls_s, repeated
            busy.demand_few([seen])
            repeated = True

    def _singles(self, seed: int) -> None:
        """Single calls, on CUDA only: a second figure that no trick with a batch can reach."""
        if self.kind != "cuda":
            return
        first = self._span(0)
        span = slice(first.start, first.start + min(MOST_SINGLES, self.contest.size.calls))
        for name, run in self._round(self.sides, span, seed, "single").items():
            self.series.sides[name].singles_s += run.walls_s
        self._null_singles += self._null(span, seed, "null-single")[0]

    def _span(self, pair: int) -> slice:
        """Rounds go around the slots: how quick a call is depends a little on where its memory lies."""
        size = self.contest.size
        start = pair % (size.slots // size.calls) * size.calls
        return slice(start, start + size.calls)

    @contextlib.contextmanager
    def _all_still(self) -> Iterator[None]:
        """Every side's process is stopped but for its own rounds: none slows another one down, or the verifying."""
        try:
            for side in self.sides:
                side.freeze()
            yield
        finally:
            for side in self.sides:
                side.thaw()

    @contextlib.contextmanager
    def _awake(self, side: Side) -> Iterator[None]:
        side.thaw()
        yield
        side.freeze()

    @contextlib.contextmanager
    def _watched(self, side: Side, label: str) -> Iterator[None]:
        """A baseline's round on a GPU, where the solution, which stands still, may have left something at work."""
        assert side.arena is not None
        if side.is_solution or not side.arena.layout.flush_bytes:
            yield
            return
        watch = self.contest.watch
        watch.demand_calm(side.arena.flush_once, busy.WAIT_S)
        yield
        self.series.looks.setdefault(label, []).append(not watch.sees_calm(side.arena.flush_once))


def _taken(side: Side, run: Run, span: slice) -> Done:
    assert side.arena is not None
    # A baseline runs the problem's own file: on CUDA, where memory counts, what it left is read in place.
    in_place = not side.is_solution and side.device.kind == "cuda"
    taken = [view[span] for view in side.arena.outputs] if in_place else side.arena.take(span)
    return Done(side, run, taken, span)


def _no_flush() -> Stopped:
    return Stopped(Ruling("cheated", "it did not evict the cache before each timed call, as the protocol asks"))
