"""Whether something works on the GPU while nobody should: what a solution leaves running slows all who come after it.

Processes share a GPU by turns of a millisecond or so. A kernel that waits on one core costs its own process nothing,
and everybody else every other turn. So the referee writes one flush region, whose time it knows, while all workers
stand still: where that takes a turn longer in each of a few tries, somebody is at work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch

from kbench.device.interface import Device

FLUSHES = 10
TRIES = 3
LONGER, MORE_S = 2.0, 0.0003
MOST, FEWEST = 0.25, 8  # of all looks, as medians and quartiles bear that; and how many say something
AFTERWARDS, APART_S = 20, 0.005  # looks once the solution is gone, spread so that others' work would show
PATIENCE_S = 5.0  # for a process that was killed to let go of the GPU


def calm(device: Device) -> float:
    """What a flush takes here, 0 where there is none: to be asked before any solution could leave work behind."""
    if not device.flush_bytes():
        return 0.0
    words = torch.empty(device.flush_bytes() // 4, dtype=torch.int32, device=device.torch_device)
    return min(seconds_to_write(device, words) for _ in range(FLUSHES))


def seconds_to_write(device: Device, words: torch.Tensor) -> float:
    device.synchronize()
    began = time.perf_counter()
    words.fill_(1)
    device.synchronize()
    return time.perf_counter() - began


class Busy(Exception):
    """Times mean nothing now; never leaves the referee."""


def look(flush: Callable[[], float], calm_s: float) -> bool:
    """Whether the GPU is busy: one quick flush shows that it is not."""
    return not any(flush() <= LONGER * calm_s + MORE_S for _ in range(TRIES))


def too_often(looks: Sequence[bool]) -> bool:
    return len(looks) >= FEWEST and sum(looks) > MOST * len(looks)


def calms_down(flush: Callable[[], float], calm_s: float) -> bool:
    """Whether it is over, and stays so, now that somebody's process has ended."""
    until = time.monotonic() + PATIENCE_S
    while look(flush, calm_s):
        if time.monotonic() > until:
            return False
    looks = []
    for _ in range(AFTERWARDS):
        looks.append(look(flush, calm_s))
        time.sleep(APART_S)
    return not too_often(looks)
