"""Whether something works on the GPU while nobody should: what a solution leaves running slows all who come after it.

Processes share a GPU by turns of a millisecond or so. A kernel that waits on one core costs its own process nothing,
and everybody else every other turn. So before and after each of a baseline's rounds, with the solution stopped, the
referee writes one flush region, whose time it knows: where that takes a turn longer, somebody is at work, or the host
was slow for once. What ends soon is waited for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import torch

from kbench.device.interface import Device
from kbench.errors import DoesNotFit, MachineFault
from kbench.referee.ruling import Ruling, Stopped
from kbench.report.warn import HICCUPS

FLUSHES = 10
TRIES = 3
LONGER, MORE_S = 2.0, 0.0003
# Medians and quartiles of a baseline's rounds bear this share of disturbed ones; fewer looks than that say nothing.
MOST, FEWEST = 0.25, 8
WAIT_S = 0.4  # before a round, for what was left to end
APART_S = 0.005
PARTING_S = 0.3  # until the device, too, has let go of a process that is gone
# How long nobody may be at work after a solution's end to show that it was the solution; longer where nobody was just
# before, either.
LEAST_S, LONG_S = 0.4, 3.0

Measured = TypeVar("Measured")
Looks = dict[str, list[bool]]  # of each kind of round, those after which the GPU was busy


class Busy(Exception):
    """Times mean nothing now; never leaves the referee. `lasting` where it had no pause that a round could wait for."""

    def __init__(self, lasting: bool) -> None:
        super().__init__(lasting)
        self.lasting = lasting


class Watch:
    """Knows what a flush takes while nobody works: the quickest one ever seen."""

    def __init__(self) -> None:
        self.calm_s = math.inf

    def begin(self, device: Device) -> None:
        """Before any solution could leave work behind."""
        if not device.flush_bytes() or self.calm_s < math.inf:
            return
        try:
            words = torch.empty(device.flush_bytes() // 4, dtype=torch.int32, device=device.torch_device)
        except torch.OutOfMemoryError as error:
            raise DoesNotFit(f"no memory to flush the cache with: {error}", "free some of the GPU's memory") from None
        self.calm_s = min(seconds_to_write(device, words) for _ in range(FLUSHES))

    def sees_work(self, flush: Callable[[], float]) -> bool:
        """Surely: one quick flush shows a gap, if not that nobody works."""
        return all(self._slow(flush) for _ in range(TRIES))

    def sees_calm(self, flush: Callable[[], float]) -> bool:
        """Surely: one slow flush shows work, or a host that was slow for once."""
        return not any(self._slow(flush) for _ in range(TRIES))

    def _slow(self, flush: Callable[[], float]) -> bool:
        took = flush()
        self.calm_s = min(self.calm_s, took)
        return took > LONGER * self.calm_s + MORE_S

    def demand_calm(self, flush: Callable[[], float], seconds: float) -> None:
        """Before a round: beside somebody's work it would say nothing."""
        until = time.monotonic() + seconds
        while not self.sees_calm(flush):
            if time.monotonic() > until:
                raise Busy(lasting=True)
            time.sleep(APART_S)

    def stays_calm(self, flush: Callable[[], float], seconds: float) -> bool:
        """Whether nobody works for so long, now that somebody's process has ended."""
        try:
            self.demand_calm(flush, PARTING_S)
        except Busy:
            return False
        looks, until = [True], time.monotonic() + seconds
        while time.monotonic() < until:
            looks.append(self.sees_calm(flush))
            if not looks[-1] and self.sees_work(flush):
                return False
            time.sleep(APART_S)
        return looks.count(False) <= HICCUPS * len(looks)


class Peace:
    """Has things measured beside which nobody works."""

    def __init__(self, watch: Watch, flush: Callable[[], float], end: Callable[[], None]) -> None:
        """`end` ends the solution and waits until it is gone."""
        self.watch = watch
        self.flush = flush
        self.end = end
        self.disturbed = 0  # measurements that were given up

    def measured(self, measure: Callable[[], Measured]) -> Measured:
        """Raises what follows from it where somebody keeps on working."""
        for _ in range(2):
            try:
                return measure()
            except Busy as found:
                self.disturbed += 1
                if found.lasting and not self.watch.sees_calm(self.flush):  # another would only wait for it again
                    raise self._who_works(LEAST_S) from None
        raise self._who_works(LONG_S)

    def _who_works(self, seconds: float) -> Exception:
        """The solution, if nobody does any more once it has ended."""
        self.end()
        if self.watch.stays_calm(self.flush, seconds):
            reason = "it left work running on the GPU, which slowed the baselines that were timed after its calls"
            return Stopped(Ruling("cheated", reason))
        return MachineFault("other work keeps the GPU busy, times would mean nothing", "time on a GPU of its own")


def seconds_to_write(device: Device, words: torch.Tensor) -> float:
    device.synchronize()
    began = time.perf_counter()
    words.fill_(1)
    device.synchronize()
    return time.perf_counter() - began


def too_often(looks: Sequence[bool]) -> bool:
    return len(looks) >= FEWEST and sum(looks) > MOST * len(looks)


def demand_few(looks: Iterable[Sequence[bool]]) -> None:
    """Of each kind of round by itself: the work of all others must not hide that one is disturbed."""
    if any(map(too_often, looks)):
        raise Busy(lasting=False)
