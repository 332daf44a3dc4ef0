"""Whether processes that were stopped stand still: what wakes them is a signal, and a timer of theirs can send it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable

STOPPED = "TtZX"  # as /proc calls it: by a signal, by a tracer, ended
SETTLE_S, LOOK_S = 0.01, 0.0001
# Who stands still takes nothing at all. Stopping late, on a busy host, takes microseconds.
SLACK_S, SLACK_SHARE = 0.0003, 0.01


class Stillness:
    """From one stop to the next go."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = list(pids)
        _settle(self._pids)
        self._began = time.monotonic()
        self._cpu_s = self._read()

    def was_broken(self) -> bool:
        """Whether any of them ran since. One that is there no more ran too: it ended."""
        span = time.monotonic() - self._began
        return ran(self._cpu_s, self._read(), span)

    def _read(self) -> list[float | None]:
        return [_cpu_seconds(pid) for pid in self._pids]


def ran(before: list[float | None], after: list[float | None], span: float) -> bool:
    taken = 0.0
    for then, now in zip(before, after, strict=True):
        if (then is None) != (now is None):
            return True
        taken += now - then if now is not None and then is not None else 0.0
    return taken > SLACK_S + SLACK_SHARE * span


def _settle(pids: list[int]) -> None:
    """Waits until every thread has stopped: in the middle of a system call that takes a while."""
    deadline = time.monotonic() + SETTLE_S
    while not all(map(_has_stopped, pids)) and time.monotonic() < deadline:
        time.sleep(LOOK_S)


def _has_stopped(pid: int) -> bool:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  a path takes longer than the rest
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if _state(f"/proc/{pid}/task/{thread}/stat") not in STOPPED:
                    return False
    return True


def _state(stat: str) -> str:
    with open(stat) as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0]


def _cpu_seconds(pid: int) -> float | None:
    """Of all its threads, to the nanosecond: the kernel has a clock for each process."""
    with contextlib.suppress(OSError):
        return time.clock_gettime(~pid << 3 | 2)
    return None
