"""Quiet for the CPU: whatever is built there disturbs what is timed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class Quiet:
    """Many build at once, or one is timed, which goes first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._builds = 0
        self._timed = 0
        self._wanted = 0

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._timed and not self._wanted)
            self._builds += 1
        try:
            yield
        finally:
            with self._changed:
                self._builds -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def timing(self) -> Iterator[None]:
        with self._changed:
            self._wanted += 1
            self._changed.wait_for(lambda: not self._builds and not self._timed)
            self._wanted -= 1
            self._timed += 1
        try:
            yield
        finally:
            with self._changed:
                self._timed -= 1
                self._changed.notify_all()
