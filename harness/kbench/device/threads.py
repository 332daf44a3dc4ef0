"""The threads that OpenMP keeps for a process: ours must not spin beside timed work, a worker's must not share a core.

For milliseconds after their last work they spin, waiting for more. And the kernel likes to wake a thread on the core
of whoever wakes it, and may leave two there for tens of milliseconds, beside an idle one: then each waits for the
other's slice of time to end, and plain work takes ten times as long.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import time
from pathlib import Path
from typing import Any

import torch

LIBRARY = re.compile(r"\S*/lib[gi]omp\S*\.so\S*$")
SOFT = 1
SPIN_S = 0.03  # longer than GNU's runtime spins by default
ENOUGH = 2**17  # elements, for torch to spread their work over its threads


def rest() -> None:
    """Ends the idle threads of this process; the next parallel work starts new ones, in well under a millisecond."""
    for library in _runtimes():
        library.omp_pause_resource_all(SOFT)
    if not _runtimes():
        time.sleep(SPIN_S)


class Team:
    """The main thread of a worker and those that torch's own work is spread over."""

    def __init__(self) -> None:
        before = _tasks()
        torch.zeros(ENOUGH).add_(1.0)
        self._others = _tasks() - before  # threads that a solution starts are its own business
        self._cores = os.sched_getaffinity(0)

    def take_places(self) -> None:
        """Main waits on one core, so that it wakes there, and the others keep to the rest of them."""
        self._cores = os.sched_getaffinity(0)
        own = min(self._cores)
        if not self._others or len(self._cores) == 1:
            return
        for task in self._others:
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(task, self._cores - {own})
        os.sched_setaffinity(0, {own})

    def begin(self) -> None:
        """Main is as free as before, and so are threads that it starts."""
        os.sched_setaffinity(0, self._cores)


def _tasks() -> set[int]:
    return {int(path.name) for path in Path("/proc/self/task").iterdir()}


@functools.cache
def _runtimes() -> tuple[Any, ...]:
    """Those that are loaded. Version 5 of OpenMP brought the call."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    paths = {found[0] for found in map(LIBRARY.search, maps) if found}
    loaded = [ctypes.CDLL(path) for path in sorted(paths)]
    return tuple(library for library in loaded if hasattr(library, "omp_pause_resource_all"))
