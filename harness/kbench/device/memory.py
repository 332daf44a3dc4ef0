"""Shared host memory: sealed, so that the other side cannot shrink it under our feet."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os

import torch

F_ADD_SEALS = 1033
SEAL_SEAL, SEAL_SHRINK, SEAL_GROW = 1, 2, 4
MADV_POPULATE_WRITE = 23  # Linux 5.14
PAGE = os.sysconf("SC_PAGE_SIZE")
_libc = ctypes.CDLL(None)


class HostMemory:
    def __init__(self, count: int) -> None:
        count = max(count, 1)
        self.fd = os.memfd_create("kbench-arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            size_for_good(self.fd, count)
            self.view = attach(self.fd, count)
        except (OSError, ValueError) as error:
            os.close(self.fd)
            raise MemoryError(f"cannot map {count} bytes of shared memory: {error}") from None

    def release(self) -> None:
        os.close(self.fd)
        del self.view


def size_for_good(fd: int, count: int) -> None:
    """Gives a memfd its size and seals it: whoever shrank it could kill us by our own reading."""
    os.ftruncate(fd, count)
    fcntl.fcntl(fd, F_ADD_SEALS, SEAL_SEAL | SEAL_SHRINK | SEAL_GROW)


def attach(fd: int, count: int) -> torch.Tensor:
    """The memory behind the descriptor as bytes; the tensor keeps the mapping alive."""
    return torch.frombuffer(mmap.mmap(fd, max(count, 1)), dtype=torch.uint8)


def touch(part: torch.Tensor) -> None:
    """Maps the pages of these bytes into this process, to be written: the first use of each takes a fault."""
    first = part.data_ptr() // PAGE * PAGE
    count = part.data_ptr() + part.numel() - first
    if _libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(count), MADV_POPULATE_WRITE) != 0:
        part[::PAGE].bitwise_or_(0)  # what is only read is mapped to be read, and the first write takes as long again
