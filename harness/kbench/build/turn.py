"""Taking turns between processes: abstract sockets that only one process can bind, and that end with their holder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import time
from collections.abc import Iterator, Sequence

MEMORY_EACH = 4 * 2**30  # nvcc on torch's headers takes 1 to 3 GB a file
CORES_EACH = 2  # an extension has two files to compile, as a rule
POLL_S = 0.02


@contextlib.contextmanager
def to_build(folder: str, key: str, deadline: float) -> Iterator[bool]:
    """What two processes need is built by one of them. False where the deadline came first."""
    name = hashlib.sha256(f"{folder}|{key}".encode()).hexdigest()[:32]
    with _one_of([f"\0kbench-build-{name}"], deadline) as mine:
        yield mine


@contextlib.contextmanager
def to_compile(slots: int, deadline: float) -> Iterator[bool]:
    """One of so many compilations at once on this machine, whoever asks. False where the deadline came first."""
    with _one_of([f"\0kbench-compile-{os.getuid()}-{number}" for number in range(slots)], deadline) as mine:
        yield mine


def slots(cores: int, memory_bytes: int) -> int:
    """How many compilations this machine bears, at least one."""
    return max(1, min(cores // CORES_EACH, memory_bytes // MEMORY_EACH))


@contextlib.contextmanager
def _one_of(names: Sequence[str], deadline: float) -> Iterator[bool]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        while not (mine := any(_bound(sock, name) for name in names)) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        yield mine


def _bound(sock: socket.socket, name: str) -> bool:
    try:
        sock.bind(name)
    except OSError:
        return False
    return True
