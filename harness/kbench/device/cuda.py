"""One NVIDIA GPU as a device."""

from __future__ import annotations

import os
from typing import Literal

import torch

from kbench.device import driver
from kbench.device.gate import Gate, SpinningGate
from kbench.device.telemetry import GpuProbe, Probe
from kbench.records import DeviceInfo

FLUSH_GRAIN = 2 * 2**20
KEPT_SHARE = 0.1  # of the device: handing less back and asking for it again takes longer than a round


class GpuMemory:
    fd: int | None = None

    def __init__(self, count: int) -> None:
        self._pointer = driver.allocate(count)
        self.handle = driver.export(self._pointer)
        self.view = driver.as_tensor(self._pointer, count)

    def release(self) -> None:
        del self.view
        torch.cuda.synchronize()
        driver.free(self._pointer)


class Cuda:
    """The process sees this one GPU alone: CUDA_VISIBLE_DEVICES is set before CUDA starts."""

    kind: Literal["cpu", "cuda"] = "cuda"

    def __init__(self, index: int) -> None:
        self.index = index
        self.torch_device = torch.device("cuda:0")
        torch.zeros(1, device=self.torch_device)

    def info(self) -> DeviceInfo:
        properties = torch.cuda.get_device_properties(0)
        return DeviceInfo(
            kind="cuda",
            name=properties.name,
            index=self.index,
            memory_bytes=properties.total_memory,
            cache_bytes=self.cache_bytes(),
            capability=f"{properties.major}.{properties.minor}",
            uuid=_uuid(),
            driver=_driver_version(),
        )

    def allocate(self, count: int) -> GpuMemory:
        return GpuMemory(count)

    def attach(self, handle: bytes, fd: int | None, count: int) -> torch.Tensor:
        return driver.as_tensor(driver.open_export(handle), count)

    def detach(self, memory: torch.Tensor) -> None:
        driver.close_export(memory.data_ptr())

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def free_bytes(self) -> int:
        # What this process holds for the moment is free for the evaluation too.
        return int(torch.cuda.mem_get_info()[0]) + torch.cuda.memory_reserved()

    def held_bytes(self) -> int:
        torch.cuda.empty_cache()
        return torch.cuda.memory_reserved()

    def warm_up(self) -> None:
        square = torch.ones(64, 64, device=self.torch_device)
        torch.relu(square @ square).sum().item()

    def hand_back(self, all_of_it: bool = False) -> None:
        # Asked before every round: the flat dict of torch.cuda.memory_stats takes ten times as long to make.
        stats = torch.cuda.memory_stats_as_nested_dict()
        reserved, allocated = (stats[name]["all"]["current"] for name in ("reserved_bytes", "allocated_bytes"))
        if all_of_it or reserved - allocated > KEPT_SHARE * torch.cuda.get_device_properties(0).total_memory:
            torch.cuda.empty_cache()

    def cache_bytes(self) -> int:
        return int(torch.cuda.get_device_properties(0).L2_cache_size)

    def flush_bytes(self) -> int:
        return -(-2 * self.cache_bytes() // FLUSH_GRAIN) * FLUSH_GRAIN

    def take_places(self) -> None:
        """One thread launches, the GPU does the work."""

    def begin(self) -> None:
        pass

    def rest(self) -> None:
        """Its threads take no part in what a GPU does."""

    def fills_in_time(self) -> bool:
        return True

    def new_gate(self) -> Gate:
        return SpinningGate()

    def join_gate(self, fds: list[int]) -> Gate:
        return SpinningGate(fds[0])

    def lease_name(self) -> str:
        return f"cuda-{_uuid()}"

    def probe(self) -> Probe:
        return GpuProbe(_uuid())

    def environment(self) -> dict[str, str]:
        return {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0")}


def _uuid() -> str:
    return f"GPU-{torch.cuda.get_device_properties(0).uuid}"


def _driver_version() -> str:
    number = driver.version()
    return f"CUDA {number // 1000}.{number % 1000 // 10}"
