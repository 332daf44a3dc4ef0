"""Which cores builds may use: some stay free for what is timed."""

from __future__ import annotations

import os
from collections.abc import Sequence


def for_builds(usable: Sequence[int], gpus: int) -> frozenset[int]:
    """All but two for each GPU (a referee and a worker) and two more, where there are so many.

    On the CPU as a device nothing is built while something is timed, so builds may have everything.
    """
    kept = 0 if gpus == 0 else min(len(usable) - 1, 2 + 2 * gpus)
    return frozenset(usable[kept:])


def usable() -> list[int]:
    return sorted(os.sched_getaffinity(0))
