"""How the referee says go and hears done, as cheaply as the device allows.

On the CPU both sides block on a descriptor: spinning there takes the core that the work needs. Beside a GPU
both spin on a byte of shared memory, because waking up costs more than a short kernel takes.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import time
from collections.abc import Callable
from typing import Protocol

from kbench.device import memory
from kbench.wire import readable

SPINS_BETWEEN_CHECKS = 2000


class Gate(Protocol):
    def fds(self) -> list[int]: ...

    def go(self) -> None:
        """Referee: start the armed round."""

    def wait_done(self, deadline: float, alive: Callable[[], bool]) -> bool:
        """Referee: True at done, False at the deadline (monotonic seconds) or when nobody is alive."""

    def wait_go(self) -> None:
        """Worker: block until go."""

    def done(self) -> None:
        """Worker: outputs are there."""

    def close(self) -> None: ...


class BlockingGate:
    """A socket pair, of which the worker gets one end: nothing it does to it can make the referee wait or fail."""

    def __init__(self, fds: list[int] | None = None) -> None:
        if fds is None:
            pair = socket.socketpair()
            self._own, self._given = pair[0], [pair[1]]
        else:
            self._own, self._given = socket.socket(fileno=fds[0]), []
        self._own.setblocking(fds is not None)

    def fds(self) -> list[int]:
        return [given.fileno() for given in self._given]

    def go(self) -> None:
        with contextlib.suppress(OSError):  # who does not read is late
            self._own.send(b"g")

    def wait_done(self, deadline: float, alive: Callable[[], bool]) -> bool:
        while not self._take():
            left = deadline - time.monotonic()
            if readable(self._own, max(0.0, min(left, 0.5))):
                continue
            if left <= 0 or not alive():
                return self._take()
        return True

    def _take(self) -> bool:
        try:
            return self._own.recv(1) == b"d"
        except OSError:
            return False

    def wait_go(self) -> None:
        self._own.recv(1)

    def done(self) -> None:
        self._own.send(b"d")

    def close(self) -> None:
        self._own.close()
        for given in self._given:
            given.close()


class SpinningGate:
    """A shared page: byte 0 counts goes, byte 1 counts dones."""

    def __init__(self, fd: int | None = None) -> None:
        self._fd = os.memfd_create("kbench-gate", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING) if fd is None else fd
        if fd is None:
            memory.size_for_good(self._fd, mmap.PAGESIZE)
        self._page = mmap.mmap(self._fd, mmap.PAGESIZE)
        self._count = 0

    def fds(self) -> list[int]:
        return [self._fd]

    def go(self) -> None:
        self._count = (self._count + 1) % 256
        self._page[0] = self._count

    def wait_done(self, deadline: float, alive: Callable[[], bool]) -> bool:
        page, wanted, spins = self._page, self._count, 0
        while page[1] != wanted:
            spins += 1
            if spins % SPINS_BETWEEN_CHECKS == 0 and (time.monotonic() > deadline or not alive()):
                return page[1] == wanted  # done may have come between the two looks
        return True

    def wait_go(self) -> None:
        self._count = (self._count + 1) % 256
        page, wanted, spins = self._page, self._count, 0
        while page[0] != wanted:
            spins += 1
            if spins > 1_000_000:  # the referee is slow to fill: stop burning the core
                time.sleep(0.0005)

    def done(self) -> None:
        self._page[1] = self._count

    def close(self) -> None:
        self._page.close()
        os.close(self._fd)
