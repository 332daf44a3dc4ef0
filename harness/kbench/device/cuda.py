"""One NVIDIA GPU as a device."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Literal

import torch

from kbench.device import driver
from kbench.device.gate import Gate, SpinningGate
from kbench.device.telemetry import GpuProbe, Probe
from kbench.records import DeviceInfo

DEV, DRIVER = Path("/dev"), Path("/proc/driver/nvidia/gpus")
PAGE = 2 * 2**20  # as the driver maps memory; what was shared in smaller ones was slow to read
KEPT_SHARE = 0.1  # of the device: handing less back and asking for it again takes longer than a round


class GpuMemory:
    def __init__(self, count: int) -> None:
        self._whole = whole_pages(count)
        self._pointer, self.fd = driver.share(self._whole)
        with contextlib.ExitStack() as undo:
            undo.callback(self._give_back)
            pages = driver.as_tensor(self._pointer, self._whole)
            pages.zero_()  # not every driver hands out pages that are empty
            torch.cuda.synchronize()
            self.view = pages[:count]
            undo.pop_all()

    def release(self) -> None:
        del self.view
        torch.cuda.synchronize()
        self._give_back()

    def _give_back(self) -> None:
        driver.unmap(self._pointer, self._whole)
        os.close(self.fd)


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

    def attach(self, fd: int, count: int) -> torch.Tensor:
        return driver.as_tensor(driver.open_shared(fd, whole_pages(count)), count)

    def detach(self, memory: torch.Tensor) -> None:
        driver.unmap(memory.data_ptr(), whole_pages(memory.numel()))

    def touch(self, part: torch.Tensor) -> None:
        """All of it is mapped when it is attached."""

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def free_bytes(self) -> int:
        # What this process holds for the moment is free for the evaluation too.
        return int(torch.cuda.mem_get_info()[0]) + torch.cuda.memory_reserved()

    def held_bytes(self) -> int:
        torch.cuda.empty_cache()
        return torch.cuda.memory_reserved()

    def most_held_bytes(self) -> int:
        return torch.cuda.max_memory_reserved()

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
        return whole_pages(2 * self.cache_bytes())

    def take_places(self) -> None:
        """One thread launches, the GPU does the work."""

    def begin(self) -> None:
        pass

    def rest(self) -> None:
        """Its threads take no part in what a GPU does. Cache that a solution set aside is given back."""
        driver.reset_persisting_cache()

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

    def has_neighbours(self) -> bool:
        return self.nodes(alone=True) != self.nodes(alone=False)

    def nodes(self, alone: bool) -> tuple[str, ...]:
        return node_names(DEV, _minor(_uuid(), DRIVER) if alone else None)

    def environment(self, alone: bool) -> dict[str, str]:
        # By its number it could only be found among the others.
        return {"CUDA_VISIBLE_DEVICES": _uuid() if alone else os.environ.get("CUDA_VISIBLE_DEVICES", "0")}


def whole_pages(count: int) -> int:
    return max(1, -(-count // PAGE)) * PAGE


def node_names(folder: Path, minor: str | None) -> tuple[str, ...]:
    """Those of the driver as a whole, and of GPUs the one with this number; all where it is not known."""
    names = sorted(path.name for path in folder.glob("nvidia*") if path.is_char_device())
    gpus = {name for name in names if name.removeprefix("nvidia").isdigit()}
    others = gpus - {f"nvidia{minor}"} if f"nvidia{minor}" in gpus else set()
    return tuple(str(folder / name) for name in names if name not in others)


def _minor(uuid: str, folder: Path) -> str | None:
    """The number of a GPU's node, which need not be its index."""
    for file in folder.glob("*/information"):
        with contextlib.suppress(OSError):
            text = file.read_text()
            found = re.search(r"Device Minor:\s*(\d+)", text)
            if uuid in text and found:
                return found[1]
    return None


def _uuid() -> str:
    return f"GPU-{torch.cuda.get_device_properties(0).uuid}"


def _driver_version() -> str:
    number = driver.version()
    return f"CUDA {number // 1000}.{number % 1000 // 10}"
