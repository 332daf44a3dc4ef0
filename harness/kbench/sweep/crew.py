"""The threads of a sweep: one a device that judges pairs, some that build ahead. They say what happens as events."""

from __future__ import annotations

import contextlib
import functools
import queue
import threading
from collections.abc import Callable
from typing import Protocol

from msgspec import structs

from kbench.errors import DoesNotFit, KbenchError, ProblemFault, UsageFault
from kbench.records import Result
from kbench.sweep.events import Broken, Entered, Event, Faulted, Finished, Joined, Left, Lost, Place
from kbench.sweep.pair import Pair
from kbench.sweep.schedule import Schedule, Task

BUILD = "build"


class Judge(Protocol):
    """Evaluates pairs on one device."""

    def start(self) -> Place:
        """Makes sure that it is up. Raises where the device cannot be used (any more)."""

    def evaluate(self, pair: Pair, entered: Callable[[str], None]) -> Result: ...

    def close(self) -> None: ...


class Builder(Protocol):
    """Builds ahead of time. What goes wrong there is said by the evaluation that follows."""

    def build(self, pair: Pair) -> None: ...

    def close(self) -> None: ...


class Crew:
    def __init__(self, hire: Callable[[str], Judge], builders: int, builder: Callable[[], Builder]) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._hire = hire
        self._builders = builders
        self._builder = builder
        self._schedule: Schedule | None = None
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []

    def start(self, devices: list[str]) -> None:
        """Brings the devices up; each says `Joined` or `Lost`, then waits for work."""
        for device in devices:
            self._thread(functools.partial(self._judge, device), f"judge {device}")

    def work(self, schedule: Schedule) -> None:
        """Begins. Each device says `Left` or `Lost` in the end."""
        with self._changed:
            self._schedule = schedule
            self._changed.notify_all()
        for number in range(self._builders):
            self._thread(self._build, f"{BUILD} {number}")

    def stop(self, why: str) -> None:
        """What runs is finished, nothing more is begun."""
        with self._changed:
            if self._schedule:
                self._schedule.stop(why)
            self._changed.notify_all()

    def join(self) -> None:
        """Waits until everything that was started is gone; after a stop, builds go with this process."""
        stopped = self._schedule is not None and self._schedule.stopped
        for thread in self._threads:
            if not (stopped and thread.name.startswith(BUILD)):
                thread.join()

    def _thread(self, life: Callable[[], None], name: str) -> None:
        def live() -> None:
            try:
                life()
            except BaseException as error:  # noqa: BLE001  handed on, to be raised where somebody sees it
                self.events.put(Broken(error))

        thread = threading.Thread(target=live, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _judge(self, device: str) -> None:
        judge = self._hire(device)
        try:
            place = judge.start()
            self.events.put(Joined(device, place))
            while task := self._next(device):
                if not self._evaluate(device, judge, task):
                    return
            self.events.put(Left(device))
        except KbenchError as fault:
            self._lose(device, fault)
        finally:
            judge.close()

    def _evaluate(self, device: str, judge: Judge, task: Task) -> bool:
        """Whether the device can go on."""
        assert self._schedule
        try:
            judge.start()
        except KbenchError as fault:
            with self._changed:
                self._schedule.put_back(device)
            self._lose(device, fault)
            return False
        try:
            result = judge.evaluate(task.pair, lambda stage: self.events.put(Entered(device, task.pair, stage)))
        except KbenchError as fault:
            return self._after(device, task, fault)
        with self._changed:
            self._schedule.finish(device)
            self._changed.notify_all()
        run = structs.replace(result.run, attempts=task.attempts) if result.run else None
        self.events.put(Finished(device, task.pair, structs.replace(result, run=run)))
        return True

    def _after(self, device: str, task: Task, fault: KbenchError) -> bool:
        """A pair that could not be judged: the problem's fault or the machine's, never the solution's."""
        assert self._schedule
        with self._changed:
            if isinstance(fault, ProblemFault | UsageFault | DoesNotFit):
                self._schedule.refuse(device)
                again = False
            else:
                again = self._schedule.fail(device)
            hopeless = self._schedule.is_hopeless(device)
            self._changed.notify_all()
        self.events.put(Faulted(device, task.pair, fault, again))
        if hopeless:
            self._lose(device, fault)
        return not hopeless

    def _lose(self, device: str, fault: KbenchError) -> None:
        with self._changed:
            orphans = self._schedule.leave(device) if self._schedule else []
            self._changed.notify_all()
        self.events.put(Lost(device, fault, orphans))

    def _next(self, device: str) -> Task | None:
        """The next pair of a device, when there is one and it is built; None in the end."""
        with self._changed:
            while True:
                if self._schedule:
                    task = self._schedule.take(device)
                    if task or self._schedule.idle(device):
                        return task
                self._changed.wait()

    def _build(self) -> None:
        assert self._schedule
        builder = self._builder()
        try:
            while True:
                with self._changed:
                    task = self._schedule.to_build()
                if task is None:
                    return
                with contextlib.suppress(KbenchError):
                    builder.build(task.pair)
                with self._changed:
                    self._schedule.built(task)
                    self._changed.notify_all()
        finally:
            builder.close()
