"""How the referee says go and hears done, as cheaply as the device allows.

On the CPU both sides block on a descriptor: spinning there takes the core that the work needs. Beside a GPU
both spin on a byte of shared memory, because waking up costs more than a short kernel takes.
"""

from __future__ import annotations

import mmap
import os
import select
import time
from collections.abc import Callable
from typing import Protocol

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
    """Two eventfds."""

    def __init__(self, fds: list[int] | None = None) -> None:
        self._go, self._done = fds or (os.eventfd(0, os.EFD_CLOEXEC), os.eventfd(0, os.EFD_CLOEXEC))

    def fds(self) -> list[int]:
        return [self._go, self._done]

    def go(self) -> None:
        os.eventfd_write(self._go, 1)

    def wait_done(self, deadline: float, alive: Callable[[], bool]) -> bool:
        while True:
            left = deadline - time.monotonic()
            if select.select([self._done], [], [], max(0.0, min(left, 0.5)))[0]:
                os.eventfd_read(self._done)
                return True
            if left <= 0 or not alive():
                return False

    def wait_go(self) -> None:
        os.eventfd_read(self._go)

    def done(self) -> None:
        os.eventfd_write(self._done, 1)

    def close(self) -> None:
        os.close(self._go)
        os.close(self._done)


class SpinningGate:
    """A shared page: byte 0 counts goes, byte 1 counts dones."""

    def __init__(self, fd: int | None = None) -> None:
        self._fd = os.memfd_create("kbench-gate", os.MFD_CLOEXEC) if fd is None else fd
        if fd is None:
            os.ftruncate(self._fd, mmap.PAGESIZE)
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
                return False
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
