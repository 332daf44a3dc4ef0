"""The small init beside a jailed worker: drains its output, bounds its memory and processes, tells how it ended.

The keeper is the first process of the worker's PID namespace, so when it ends the kernel ends everything in
there. It ends when its control channel does. It is ours, unconfined, and cannot be traced or killed from inside.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from typing import NoReturn

from kbench import machine
from kbench.jail import census, files, linux
from kbench.jail.layers import Limits
from kbench.jail.orders import AskLog, Ended, Freeze, Frozen, Keep, LogTail, PlaceFile, PlaceFolder, ToKeeper
from kbench.jail.stillness import Stillness
from kbench.wire import Channel, Closed

LOG_BYTES = 64 * 1024
WATCH_SECONDS = 0.1
MOST_READS = 16


class Keeper:
    def __init__(self, control: Channel, output: int, worker: int, limits: Limits, scratch: str, owns_pids: bool):
        self.control = control
        self.output = output
        self.worker = worker
        self.limits = limits
        self.scratch = scratch
        self.owns_pids = owns_pids
        self.free_before = _available_bytes()
        self.tail = bytearray()
        self.dropped = 0
        self.limit_hit: str | None = None
        self.ended = False
        self.still: Stillness | None = None  # while they are stopped
        self.broken = 0  # how often they went on all the same

    def run(self) -> NoReturn:
        os.set_blocking(self.output, False)
        with contextlib.suppress(Closed):
            self._serve()
        self.end_all()
        os._exit(0)

    def _serve(self) -> None:
        watched = 0.0
        sources: list[int] = [self.control.fileno(), self.output]
        while True:
            ready = select.select(sources, [], [], WATCH_SECONDS)[0]
            if self.output in ready and not self._drain():
                sources = sources[:1]
            if self.control.fileno() in ready:
                self._answer(self.control.receive(ToKeeper, 10.0))
            if time.monotonic() - watched > WATCH_SECONDS:
                self._watch()
                watched = time.monotonic()
            self._reap()

    def _answer(self, message: ToKeeper) -> None:
        match message:
            case PlaceFile(name=name, text=text):
                self.control.send(files.place(lambda path: files.write(path, text), self.scratch, name))
            case PlaceFolder(name=name):
                with self._folder_of_host() as source:
                    self.control.send(files.place(lambda path: files.copy(source, path), self.scratch, name))
            case Keep():
                with self._folder_of_host() as target:
                    self.control.send(files.place(lambda path: files.copy_fresh(self.scratch, path), target, "scratch"))
            case Freeze(on=True):
                self._freeze(message.settled, message.watched)
            case Freeze():
                self._thaw()
            case AskLog():
                for _ in range(MOST_READS):  # whoever writes without pause does not keep us here
                    if not self._drain(once=True):
                        break
                self.control.send(LogTail(text=self.tail.decode(errors="replace"), dropped=self.dropped))

    def _freeze(self, settled: bool, watched: bool) -> None:
        self._look_whether_still()
        self._signal(signal.SIGSTOP)
        if settled or watched:
            self._reap()  # what has ended is none that could go on
            still = Stillness(self._pids())  # once they have stopped
            self.still = still if watched else None
        self.control.send(Frozen(broken=self.broken))

    def _thaw(self) -> None:
        self._look_whether_still()
        self._signal(signal.SIGCONT)

    def _look_whether_still(self) -> None:
        if self.still:
            self.broken += self.still.was_broken()
            self.still = None

    @contextlib.contextmanager
    def _folder_of_host(self) -> Iterator[str]:
        """The folder that came along, as a path."""
        (fd,) = self.control.take_fds(1)
        try:
            yield f"/proc/self/fd/{fd}"
        finally:
            os.close(fd)

    def _drain(self, once: bool = False) -> bool:
        """Reads what is there; False at the end of the output (or, with `once`, when nothing is left)."""
        try:
            data = os.read(self.output, 1 << 20)
        except BlockingIOError:
            return not once
        self.tail += data
        surplus = len(self.tail) - LOG_BYTES
        if surplus > 0:
            self.dropped += surplus
            del self.tail[:surplus]
        return bool(data)

    def _watch(self) -> None:
        if self.ended:
            return
        pids = self._pids()
        if len(pids) > self.limits.processes:
            self._hit("processes")
        elif self._exceeds(pids):
            self._hit("memory")

    def _exceeds(self, pids: list[int]) -> bool:
        # The sum counts pages that forked processes still share once for each of them, so the machine as a whole
        # must have lost as much too. Exact figures per process would wait for locks that a fork holds.
        limit = self.limits.memory_bytes
        return sum(map(census.private_bytes, pids)) > limit and _available_bytes() < self.free_before - limit

    def _hit(self, limit: str) -> None:
        self.limit_hit = limit
        self.kill_rest()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.worker:
                self._report(os.waitstatus_to_exitcode(status))

    def _report(self, code: int) -> None:
        self.ended = True
        self.kill_rest()
        number = -code if code < 0 else None
        self.control.send(Ended(code=None if code < 0 else code, signal=number, limit=self.limit_hit))

    def _signal(self, number: int) -> None:
        if self.owns_pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, number)
            return
        for pid in self._pids():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def kill_rest(self) -> None:
        if self.owns_pids:
            self._signal(signal.SIGKILL)
            return
        # Children of a killed process come to us as subreaper, so a few passes reach the whole tree.
        for _ in range(20):
            pids = self._pids()
            self._signal(signal.SIGKILL)
            if not pids:
                return
            time.sleep(0.005)

    def end_all(self) -> None:
        self.kill_rest()
        if not self.owns_pids:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _pids(self) -> list[int]:
        if self.owns_pids:
            return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]  # noqa: PTH208  at every stop
        return census.descendants(os.getpid())


def _available_bytes() -> int:
    """What the machine has left to give."""
    return machine.meminfo("MemAvailable") or 0


def harden() -> None:
    """Nothing inside may read the keeper's memory or trace it."""
    linux.set_name("kbench.keeper")
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
