"""The host's CPU as a device: a first-class target, and what a machine without a GPU picks."""

from __future__ import annotations

import os
import re
import resource
from pathlib import Path
from typing import Literal

import torch

from kbench.device import memory, threads
from kbench.device.gate import BlockingGate, Gate
from kbench.device.telemetry import HostProbe, Probe
from kbench.jail import census
from kbench.machine import available_memory, total_memory, usable_cores
from kbench.records import DeviceInfo

DEFAULT_CACHE = 32 * 2**20


class Cpu:
    kind: Literal["cpu", "cuda"] = "cpu"

    def __init__(self) -> None:
        self.torch_device = torch.device("cpu")
        self._team: threads.Team | None = None

    def info(self) -> DeviceInfo:
        return DeviceInfo(
            kind="cpu",
            name=_model_name(),
            threads=usable_cores(),
            memory_bytes=total_memory(),
            cache_bytes=self.cache_bytes(),
        )

    def allocate(self, count: int) -> memory.HostMemory:
        return memory.HostMemory(count)

    def attach(self, fd: int, count: int) -> torch.Tensor:
        return memory.attach(fd, count)

    def detach(self, memory: torch.Tensor) -> None:
        """The mapping ends with its last tensor."""

    def touch(self, part: torch.Tensor) -> None:
        memory.touch(part)

    def synchronize(self) -> None:
        """The CPU has no queue."""

    def free_bytes(self) -> int:
        return available_memory()

    def held_bytes(self) -> int:
        return census.private_bytes(os.getpid())

    def most_held_bytes(self) -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def warm_up(self) -> None:
        self._team = threads.Team()

    def hand_back(self, all_of_it: bool = False) -> None:
        """The host's memory is not kept back."""

    def cache_bytes(self) -> int:
        sizes = [_cache_size(path) for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
        return max(sizes, default=DEFAULT_CACHE) or DEFAULT_CACHE

    def flush_bytes(self) -> int:
        return 0

    def take_places(self) -> None:
        if self._team:
            self._team.take_places()

    def begin(self) -> None:
        if self._team:
            self._team.begin()

    def rest(self) -> None:
        threads.rest()

    def fills_in_time(self) -> bool:
        # What another core has just written is slower to read than memory is: filling must come well before.
        return False

    def new_gate(self) -> Gate:
        return BlockingGate()

    def join_gate(self, fds: list[int]) -> Gate:
        return BlockingGate(fds)

    def lease_name(self) -> str:
        return "cpu"

    def probe(self) -> Probe:
        return HostProbe()

    def has_neighbours(self) -> bool:
        return False

    def nodes(self, alone: bool) -> tuple[str, ...]:
        return ()

    def environment(self, alone: bool) -> dict[str, str]:
        return {"CUDA_VISIBLE_DEVICES": ""}


def _cache_size(path: Path) -> int:
    text = path.read_text().strip()
    factor = {"K": 2**10, "M": 2**20}.get(text[-1:], 1)
    return int(text.rstrip("KM") or 0) * factor


def _model_name() -> str:
    match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    return match[1].strip() if match else "CPU"
