"""What a device can do at most: how fast it copies, how fast it multiplies. Measured once and kept."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
import torch
from msgspec import Meta

from kbench.device.interface import Device
from kbench.records import Record

COPY_BYTES = {"cuda": 2**31, "cpu": 2**28}
# The fastest type there is counts: what is asked for in float32 may be done in pieces of less.
PRODUCTS = {"cuda": [(torch.bfloat16, 8192)], "cpu": [(torch.float32, 1024), (torch.bfloat16, 512)]}
RUNS, WARM_UP = 8, 2
LEAST = 1e6  # a file that says less is not one of ours


class Rates(Record, frozen=True):
    bytes_per_s: Annotated[float, Meta(ge=LEAST)]  # read and written together
    operations_per_s: Annotated[float, Meta(ge=LEAST)]


def known(device: Device, folder: Path | None) -> Rates | None:
    """What is kept of such a device, else what is measured now; None where there is no memory for that."""
    name = hashlib.sha256(repr(_kind_of(device)).encode()).hexdigest()[:16]
    file = folder / "limits" / f"{name}.json" if folder else None
    if file is not None:
        with contextlib.suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(file.read_bytes(), type=Rates)
    try:
        limits = measure(device)
    except (RuntimeError, MemoryError):
        return None
    finally:
        device.hand_back(all_of_it=True)
    if file is not None:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(msgspec.json.encode(limits))
    return limits


def measure(device: Device) -> Rates:
    where, count = device.torch_device, COPY_BYTES[device.kind]
    source = torch.zeros(count, dtype=torch.uint8, device=where)
    target = torch.empty_like(source)
    copying = _shortest(device, lambda: target.copy_(source))
    return Rates(2 * count / copying, max(_rate(device, *product) for product in PRODUCTS[device.kind]))


def _rate(device: Device, dtype: torch.dtype, side: int) -> float:
    left = torch.randn(side, side, device=device.torch_device).to(dtype)
    product = torch.empty_like(left)
    return 2 * side**3 / _shortest(device, lambda: torch.mm(left, left, out=product))


def _shortest(device: Device, work: Callable[[], object]) -> float:
    times = []
    for _ in range(WARM_UP + RUNS):
        device.synchronize()
        began = time.perf_counter()
        work()
        device.synchronize()
        times.append(time.perf_counter() - began)
    return min(times[WARM_UP:])


def _kind_of(device: Device) -> tuple[object, ...]:
    info = device.info()
    return info.kind, info.name, info.threads, info.memory_bytes, info.driver, str(torch.__version__)
