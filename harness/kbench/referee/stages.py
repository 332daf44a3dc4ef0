"""Which stage an evaluation is in, who is told, how long each took, and when all of it must be over."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from kbench.device.lease import Lease
from kbench.referee.events import Entered, Tell
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.side import Side


class Stages:
    """Of one evaluation."""

    def __init__(self, tell: Tell, limits: dict[str, float], spent: dict[str, float]) -> None:
        """`limits` are seconds by stage. `spent` is the caller's: what each stage took is added to it."""
        self.tell = tell
        self.limits = limits
        self.spent = spent
        self.deadline = time.monotonic() + limits["total"]
        self._entered = "load"

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        outer, self._entered = self._entered, name
        self.tell(Entered(stage=name))
        began = time.monotonic()
        try:
            yield
        finally:
            self._entered = outer
            self.spent[name] = self.spent.get(name, 0.0) + time.monotonic() - began

    @contextlib.contextmanager
    def problem_code(self) -> Iterator[None]:
        """The problem's own code may hang or end this process: whoever watches it must know."""
        limit = self.limits["load"] + self.limits["first-call"]
        self.tell(Entered(stage="problem", detail="while the reference runs", limit_s=limit))
        yield
        self.tell(Entered(stage=self._entered))

    @contextlib.contextmanager
    def leased(self, lease: Lease) -> Iterator[None]:
        """Waiting for the device moves the deadline."""
        waited = lease.acquire(lambda pid: self.tell(Entered(stage="lease", detail=str(pid or "another user's"))))
        self.deadline += waited
        try:
            yield
        finally:
            lease.release()

    @contextlib.contextmanager
    def at_no_cost(self, baseline: Side) -> Iterator[None]:
        """What a baseline takes or does wrong is not the solution's."""
        began = time.monotonic()
        try:
            with baseline.blaming():
                yield
        finally:
            self.deadline += time.monotonic() - began

    def demand_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise Stopped(Ruling("timed_out", f"the evaluation took longer than {self.limits['total']:g} s"))
