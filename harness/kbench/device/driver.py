"""The few calls of the CUDA driver that torch does not expose: memory of our own, shared between processes.

It travels as a descriptor. CUDA's older handles are numbers in a row: whoever has one can open all that its owner
exports, and would find right outputs in the arena of a baseline.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from typing import Any

import torch

ON_DEVICE = PINNED = AS_DESCRIPTOR = 1
READ_AND_WRITE = 3


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class Properties(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", Location),
        ("for_windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]


class Access(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


HERE = Location(ON_DEVICE, 0)  # a process sees one GPU alone


class Bytes:
    """Device memory as torch takes it in."""

    def __init__(self, pointer: int, count: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (count,),
            "typestr": "|u1",
            "data": (pointer, False),
            "version": 3,
            "strides": None,
        }


def share(count: int) -> tuple[int, int]:
    """Fresh memory, a whole number of pages: where it is mapped, and the descriptor that others can map it by."""
    allocation, fd = ctypes.c_uint64(), ctypes.c_int()
    asked = Properties(PINNED, AS_DESCRIPTOR, HERE)
    call("cuMemCreate", ctypes.byref(allocation), ctypes.c_size_t(count), ctypes.byref(asked), ctypes.c_uint64(0))
    with contextlib.ExitStack() as undo, _released(allocation):
        pointer = _mapped(allocation, count)
        undo.callback(unmap, pointer, count)
        call("cuMemExportToShareableHandle", ctypes.byref(fd), allocation, AS_DESCRIPTOR, ctypes.c_uint64(0))
        undo.pop_all()
    return pointer, fd.value


def open_shared(fd: int, count: int) -> int:
    """Where the memory behind another process's descriptor is mapped here."""
    allocation = ctypes.c_uint64()
    given = ctypes.c_void_p(fd)
    call("cuMemImportFromShareableHandle", ctypes.byref(allocation), given, AS_DESCRIPTOR)
    with _released(allocation):
        return _mapped(allocation, count)


def unmap(pointer: int, count: int) -> None:
    """The memory itself goes with its last mapping and descriptor."""
    call("cuMemUnmap", ctypes.c_uint64(pointer), ctypes.c_size_t(count))
    call("cuMemAddressFree", ctypes.c_uint64(pointer), ctypes.c_size_t(count))


def as_tensor(pointer: int, count: int) -> torch.Tensor:
    return torch.as_tensor(Bytes(pointer, max(count, 1)), device="cuda")


def reset_persisting_cache() -> None:
    """What was set aside of the last cache before memory is cache as any other again. Older GPUs have no such thing."""
    _driver().cuCtxResetPersistingL2Cache()


def version() -> int:
    number = ctypes.c_int()
    call("cuDriverGetVersion", ctypes.byref(number))
    return number.value


def _mapped(allocation: ctypes.c_uint64, count: int) -> int:
    pointer, size, none = ctypes.c_uint64(), ctypes.c_size_t(count), ctypes.c_uint64(0)
    access = Access(HERE, READ_AND_WRITE)
    with contextlib.ExitStack() as undo:
        call("cuMemAddressReserve", ctypes.byref(pointer), size, ctypes.c_size_t(0), none, none)
        undo.callback(call, "cuMemAddressFree", pointer, size)
        call("cuMemMap", pointer, size, ctypes.c_size_t(0), allocation, none)
        undo.callback(call, "cuMemUnmap", pointer, size)
        call("cuMemSetAccess", pointer, size, ctypes.byref(access), ctypes.c_size_t(1))
        undo.pop_all()
    return pointer.value


@contextlib.contextmanager
def _released(allocation: ctypes.c_uint64) -> Iterator[None]:
    """Drops our hold of it in the end: a mapping or a descriptor keeps the memory, if there is one."""
    try:
        yield
    finally:
        call("cuMemRelease", allocation)


@functools.cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def call(name: str, *arguments: Any) -> None:
    result = getattr(_driver(), name)(*arguments)
    if result == 2:
        raise torch.OutOfMemoryError(f"{name}: out of device memory")
    if result:
        raise RuntimeError(f"{name} failed with CUDA driver error {result}")
