"""Memory ran out on the referee's side: by a solution that holds most of it, or by a problem that is too large."""

from __future__ import annotations

import time
from collections.abc import Callable

SHARE = 0.5  # of what was free without it
TIMES = 2  # what the reference, its trials and the baselines hold
LETS_GO_S = 0.3  # a device does so some time after a process is gone
APART_S = 0.02


def is_hog(held: int, others: int, free: int) -> bool:
    """Who needs as much as the baseline does is honest, however little that leaves."""
    return held > SHARE * free and held > TIMES * others


def freed(free_bytes: Callable[[], int], end: Callable[[], None]) -> int:
    """How much comes free when somebody has ended."""
    before = settled(free_bytes)
    end()
    return settled(free_bytes) - before


def settled(free_bytes: Callable[[], int]) -> int:
    """What is free once those that are gone have given theirs back."""
    until, last = time.monotonic() + LETS_GO_S, free_bytes()
    while time.monotonic() < until:
        time.sleep(APART_S)
        last = max(last, free_bytes())
    return last
