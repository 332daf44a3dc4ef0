"""A GPU's memory ran out on the referee's side: by a solution that holds most of it, or by too large a problem."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from kbench import units
from kbench.device.interface import Device
from kbench.errors import DoesNotFit
from kbench.referee.blame import out_of_memory
from kbench.referee.busy import PARTING_S
from kbench.referee.ruling import Ruling, Stopped

SHARE = 0.5  # of what was free without it
TIMES = 2  # what the referee ever held beside it, and the baselines hold
APART_S = 0.02

Do = Callable[[], None]


@contextlib.contextmanager
def told(device: Device, free: int, hold_still: Do, end: Do, end_others: Do) -> Iterator[None]:
    """Where memory runs out in here, the solution and then the others are ended to see who held how much."""
    try:
        yield
    except (DoesNotFit, RuntimeError, MemoryError) as error:
        if device.kind == "cpu" or not (isinstance(error, DoesNotFit) or out_of_memory(error)):
            raise
        hold_still()
        held = freed(device.free_bytes, end)
        others = device.most_held_bytes() + freed(device.free_bytes, end_others)
        if not is_hog(held, others, free):
            raise
        reason = f"it held {units.size(held)} of the GPU's memory, which the reference then lacked"
        raise Stopped(Ruling("out_of_memory", reason)) from None


def is_hog(held: int, others: int, free: int) -> bool:
    """Who needs about as much as the reference does is honest, however little that leaves."""
    return held > SHARE * free and held > TIMES * others


def freed(free_bytes: Callable[[], int], end: Do) -> int:
    """How much comes free when somebody has ended."""
    before = settled(free_bytes)
    end()
    return settled(free_bytes) - before


def settled(free_bytes: Callable[[], int]) -> int:
    """What is free once those that are gone have given theirs back."""
    until, last = time.monotonic() + PARTING_S, free_bytes()
    while time.monotonic() < until:
        time.sleep(APART_S)
        last = max(last, free_bytes())
    return last
