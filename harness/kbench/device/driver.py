"""The few calls of the CUDA driver that torch does not expose: memory of our own, shared between processes.

The arena is allocated here and not by torch, because CUDA shares whole allocations: memory from torch's caching
allocator would take its neighbours along.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import torch


class IpcHandle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]


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


def allocate(count: int) -> int:
    pointer = ctypes.c_uint64()
    _check(_driver().cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(max(count, 1))), "cuMemAlloc")
    return pointer.value


def free(pointer: int) -> None:
    _check(_driver().cuMemFree_v2(ctypes.c_uint64(pointer)), "cuMemFree")


def export(pointer: int) -> bytes:
    handle = IpcHandle()
    _check(_driver().cuIpcGetMemHandle(ctypes.byref(handle), ctypes.c_uint64(pointer)), "cuIpcGetMemHandle")
    return bytes(bytearray(handle))


def open_export(handle: bytes) -> int:
    pointer = ctypes.c_uint64()
    struct = IpcHandle.from_buffer_copy(handle)
    lazy_peer_access = ctypes.c_uint(1)
    result = _driver().cuIpcOpenMemHandle_v2(ctypes.byref(pointer), struct, lazy_peer_access)
    _check(result, "cuIpcOpenMemHandle")
    return pointer.value


def close_export(pointer: int) -> None:
    _check(_driver().cuIpcCloseMemHandle(ctypes.c_uint64(pointer)), "cuIpcCloseMemHandle")


def as_tensor(pointer: int, count: int) -> torch.Tensor:
    return torch.as_tensor(Bytes(pointer, max(count, 1)), device="cuda")


def reset_persisting_cache() -> None:
    """What was set aside of the last cache before memory is cache as any other again. Older GPUs have no such thing."""
    _driver().cuCtxResetPersistingL2Cache()


def version() -> int:
    number = ctypes.c_int()
    _check(_driver().cuDriverGetVersion(ctypes.byref(number)), "cuDriverGetVersion")
    return number.value


@functools.cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _check(result: int, what: str) -> None:
    if result == 2:
        raise torch.OutOfMemoryError(f"{what}: out of device memory")
    if result:
        raise RuntimeError(f"{what} failed with CUDA driver error {result}")
