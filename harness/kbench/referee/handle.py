"""One worker as the referee holds it: messages with deadlines, builds relayed, its end noticed."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from kbench.jail.launch import Plan
from kbench.jail.orders import (
    AskLog,
    Ended,
    Freeze,
    FromKeeper,
    Frozen,
    Keep,
    LogTail,
    Placed,
    PlaceFile,
    PlaceFolder,
    ToKeeper,
    Up,
)
from kbench.jail.zygote import Spawn
from kbench.protocol import MAX_TEXT as PROTOCOL_TEXT
from kbench.protocol import BuildAsk, BuildReply, Done, Fault, FromWorker, ToWorker
from kbench.referee import ruling
from kbench.referee.ruling import Ruling, Stopped
from kbench.wire import Channel, Closed, Late, Malformed, pair

KEEPER_S = 20.0
START_S = 60.0
END_S = 10.0
MAX_BUILDS = 64
MAX_FROM_WORKER = 16 * 2**20
MAX_TEXT = 4000

T = TypeVar("T")
AnswerBuild = Callable[[BuildAsk], tuple[BuildReply, list[int]]]


class Handle:
    def __init__(self, zygote: Channel, plan: Plan) -> None:
        self.plan = plan
        self.control, keeper_end = pair()
        self.work, worker_end = pair()
        self.work.limit = MAX_FROM_WORKER
        zygote.send(Spawn(plan=plan), (keeper_end.fileno(), worker_end.fileno()))
        keeper_end.close()
        worker_end.close()
        self.ended: Ended | None = None
        self.stage = "load"
        self.failed_build: str | None = None
        self.answer_build: AnswerBuild | None = None
        self.build_count = 0
        self._has_keeper = False
        self._was_up = False

    def is_up(self) -> bool:
        """Whether keeper and worker came up and nothing ended since."""
        with contextlib.suppress(Closed, Late, Malformed):
            self._await_keeper()
            if not self._was_up:
                self.work.receive(Done, START_S)
                self._was_up = True
            return not self.control.waiting()
        return False

    def has_risen(self) -> bool:
        """The same without waiting."""
        return self._was_up or (self.work.waiting() and self.is_up())

    def _await_keeper(self) -> None:
        if not self._has_keeper:
            self.control.receive(Up, KEEPER_S)
            self._has_keeper = True

    def place(self, path: str, text: str | None, folder: str | None) -> str:
        """Puts the solution into the worker's scratch; its path there."""
        if folder is not None:
            placed = self._with_folder(folder, PlaceFolder(name="solution"))
        else:
            placed = self._ask_keeper(PlaceFile(name=f"solution/{Path(path).stem}.py", text=text or ""), Placed)
        if placed.fault:
            raise OSError(placed.fault)
        return f"{placed.path}/solution.py" if folder is not None else placed.path

    def ask(self, message: ToWorker, kind: type[T], seconds: float, fds: Sequence[int] = ()) -> T:
        """Sends and waits for the reply of that kind; anything else ends the evaluation."""
        self.send(message, fds)
        return self.expect(kind, seconds)

    def send(self, message: ToWorker, fds: Sequence[int] = ()) -> None:
        try:
            self.work.send(message, fds)
        except (Closed, Late):
            raise Stopped(self.ending()) from None

    def expect(self, kind: type[T], seconds: float) -> T:
        deadline = time.monotonic() + seconds
        while True:
            reply = self._receive(deadline, seconds)
            if isinstance(reply, BuildAsk):
                deadline += self._relay(reply)
            elif isinstance(reply, Fault):
                fault = Fault(reply.kind, reply.message[:MAX_TEXT], reply.traceback[-PROTOCOL_TEXT:])
                raise Stopped(ruling.of_fault(fault, self.stage, self.failed_build))
            elif isinstance(reply, kind):
                return reply
            else:
                raise Stopped(ruling.of_protocol(f"{type(reply).__name__} instead of {kind.__name__}"))

    def alive(self) -> bool:
        """False once there is a message to read or the process is gone."""
        return not self.work.waiting() and not self.control.waiting()

    def log(self) -> str:
        """The last of its output. Empty when the keeper is gone too."""
        with contextlib.suppress(Stopped):
            tail = self._ask_keeper(AskLog(), LogTail)
            return f"[{tail.dropped} bytes dropped]\n{tail.text}" if tail.dropped else tail.text
        return ""

    def freeze(self, settled: bool = False, watched: bool = False) -> int:
        """Stops every process in the jail; how often some of them went on when they were stopped and watched before.

        One that is gone is found out about when it is asked.
        """
        with contextlib.suppress(Stopped, Closed, Late, Malformed):
            self._await_keeper()
            return self._ask_keeper(Freeze(on=True, settled=settled, watched=watched), Frozen).broken
        return 0

    def thaw(self) -> None:
        """Lets them go on, without waiting until they do."""
        with contextlib.suppress(Closed, Late):
            self.control.send(Freeze(on=False))

    def keep(self, target: str) -> str | None:
        """Why it could not be kept, None where it was."""
        try:
            return self._with_folder(target, Keep()).fault
        except (OSError, Stopped) as error:
            return str(error)

    def ending(self) -> Ruling:
        """What its keeper says of its end."""
        deadline = time.monotonic() + KEEPER_S
        with contextlib.suppress(Closed, Late, Malformed):
            while self.ended is None:
                self._note(self.control.receive(FromKeeper, deadline - time.monotonic()))
        return ruling.of_end(self.ended, self.stage, self.plan.limits.processes)

    def leave(self) -> None:
        """Lets the keeper end everything in the jail, which it does at once; nothing of it is heard any more."""
        self.work.close()
        with contextlib.suppress(OSError):
            self.control.sock.shutdown(1)

    def end(self) -> None:
        """Ends everything in the jail and returns when it is gone."""
        self.leave()
        deadline = time.monotonic() + END_S
        with contextlib.suppress(Closed, Late):
            while True:
                with contextlib.suppress(Malformed):
                    self.control.receive(FromKeeper, max(0.0, deadline - time.monotonic()))
        self.control.close()

    def _receive(self, deadline: float, seconds: float) -> FromWorker:
        try:
            message: FromWorker = self.work.receive(FromWorker, max(0.0, deadline - time.monotonic()))
            return message
        except Late:
            raise Stopped(ruling.of_deadline(self.stage, seconds)) from None
        except Closed:
            raise Stopped(self.ending()) from None
        except Malformed as error:
            raise Stopped(ruling.of_protocol(str(error))) from None

    def _relay(self, ask: BuildAsk) -> float:
        self.build_count += 1
        if self.answer_build is None or self.build_count > MAX_BUILDS:
            raise Stopped(ruling.of_protocol("a build request out of place"))
        began = time.monotonic()
        reply, fds = self.answer_build(ask)
        try:
            self.send(reply, fds)
        finally:
            for fd in fds:
                os.close(fd)
        return time.monotonic() - began

    def _with_folder(self, folder: str, order: ToKeeper) -> Placed:
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            return self._ask_keeper(order, Placed, (fd,))
        finally:
            os.close(fd)

    def _ask_keeper(self, order: ToKeeper, kind: type[T], fds: Sequence[int] = ()) -> T:
        try:
            self.control.send(order, fds)
            while True:
                reply = self.control.receive(FromKeeper, KEEPER_S)
                if isinstance(reply, kind):
                    return reply
                self._note(reply)
        except (Closed, Late, Malformed):
            raise Stopped(self.ending()) from None

    def _note(self, message: FromKeeper) -> None:
        if isinstance(message, Ended):
            self.ended = message
