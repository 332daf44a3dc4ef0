"""Framed JSON messages over a Unix socket, checked against a schema on arrival; file descriptors one way only.

Both sides use this, and the referee's side takes the worker for hostile: lengths are bounded, unknown fields and
types are refused, deadlines cover the whole message, and descriptors are accepted only where they are expected.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

import msgspec

HEADER = struct.Struct("!I")
MAX_MESSAGE = 64 * 2**20
MAX_FDS = 64
SEND_TIMEOUT_S = 30.0


class Closed(Exception):
    """The other side is gone."""


class Late(Exception):
    """Nothing complete came before the deadline."""


class Malformed(Exception):
    """What came is no message of the protocol."""


class Channel:
    def __init__(self, sock: socket.socket, accept_fds: bool = False, limit: int = MAX_MESSAGE) -> None:
        self.sock = sock
        self.accept_fds = accept_fds
        self.limit = limit
        self.fds: list[int] = []

    def fileno(self) -> int:
        return self.sock.fileno()

    def send(self, message: msgspec.Struct, fds: Sequence[int] = ()) -> None:
        data = msgspec.json.encode(message)
        self.sock.settimeout(SEND_TIMEOUT_S)
        try:
            # Descriptors ride on the header, so that they are there before the message that names them.
            socket.send_fds(self.sock, [HEADER.pack(len(data))], list(fds))
            self.sock.sendall(data)
        except TimeoutError:
            raise Late from None
        except OSError as error:
            raise Closed(str(error)) from None

    def receive(self, kind: Any, timeout: float | None = None) -> Any:
        """The next message, of the type or union `kind`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        (length,) = HEADER.unpack(self._exactly(HEADER.size, deadline))
        if length > self.limit:
            raise Malformed(f"a message of {length} bytes")
        data = self._exactly(length, deadline)
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            raise Malformed(str(error)[:200]) from None

    def waiting(self, timeout: float = 0.0) -> bool:
        """Whether something (a message or the end) can be read."""
        return readable(self.sock, timeout)

    def take_fds(self, count: int) -> list[int]:
        taken, self.fds = self.fds[:count], self.fds[count:]
        return taken

    def close(self) -> None:
        self.sock.close()
        for fd in self.fds:
            with contextlib.suppress(OSError):
                os.close(fd)
        self.fds = []

    def _exactly(self, count: int, deadline: float | None) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            self._wait(deadline)
            data = self._read(min(count - len(parts), 1 << 20))
            if not data:
                raise Closed("the other side closed the channel")
            parts += data
        return bytes(parts)

    def _wait(self, deadline: float | None) -> None:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not readable(self.sock, left):
            raise Late

    def _read(self, count: int) -> bytes:
        try:
            if not self.accept_fds:
                return self.sock.recv(count)
            data, fds, _, _ = socket.recv_fds(self.sock, count, MAX_FDS)
            self.fds.extend(fds)
            return data
        except OSError as error:
            raise Closed(str(error)) from None


def readable(sock: socket.socket, seconds: float | None) -> bool:
    """Whether there is something to read before so many seconds are over."""
    # select() takes no descriptor from 1024 on, and whoever holds many workers has those.
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))


def pair(right_accepts_fds: bool = False) -> tuple[Channel, Channel]:
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return Channel(left), Channel(right, right_accepts_fds)
