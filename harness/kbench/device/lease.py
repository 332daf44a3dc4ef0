"""One timing at a time on a device, across processes: an abstract socket that only one process can bind.

The kernel lets go of it however its holder dies, nothing lies on disk, and whoever waits is woken by the
holder's end.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable

BACKLOG = 64


class Lease:
    def __init__(self, name: str) -> None:
        self.address = f"\0kbench-lease-{name}"
        self._held: socket.socket | None = None
        self._depth = 0

    def acquire(self, waiting: Callable[[int | None], None]) -> float:
        """Blocks until held and says how long that took. `waiting` is told the holder's pid, once."""
        self._depth += 1
        began = time.monotonic()
        told = False
        while self._held is None and not self._try():
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
                line.settimeout(5.0)
                line.connect(self.address)
                if not told:
                    waiting(_peer(line))
                    told = True
                line.recv(1)  # the holder never sends: this ends when it lets go
            time.sleep(0.01)
        return time.monotonic() - began if told else 0.0

    def release(self) -> None:
        self._depth -= 1
        if self._depth == 0 and self._held is not None:
            self._held.close()
            self._held = None

    def _try(self) -> bool:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
        try:
            sock.bind(self.address)
            sock.listen(BACKLOG)
        except OSError:
            sock.close()
            return False
        self._held = sock
        return True


def _peer(sock: socket.socket) -> int | None:
    size = struct.calcsize("3i")
    pid = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]
    return int(pid) if pid and pid != os.getpid() else None
