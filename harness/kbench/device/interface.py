"""What a referee and a worker need of a device. Implemented by `cpu` and `cuda`; nothing else tells them apart."""

from __future__ import annotations

from typing import Literal, Protocol

import torch

from kbench.device.gate import Gate
from kbench.device.telemetry import Probe
from kbench.records import DeviceInfo


class Shared(Protocol):
    """Memory that the referee owns, and whoever is given its `fd` may map."""

    view: torch.Tensor  # bytes
    fd: int

    def release(self) -> None: ...


class Device(Protocol):
    torch_device: torch.device

    @property
    def kind(self) -> Literal["cpu", "cuda"]: ...

    def info(self) -> DeviceInfo: ...

    def allocate(self, count: int) -> Shared:
        """Fresh shared memory of at least `count` bytes; raises torch's OutOfMemoryError or MemoryError."""

    def attach(self, fd: int, count: int) -> torch.Tensor:
        """In the worker: the same memory as bytes. The descriptor may be closed then."""

    def detach(self, memory: torch.Tensor) -> None:
        """In the worker: the end of what `attach` gave. None of its views may be used any more."""

    def touch(self, part: torch.Tensor) -> None:
        """Sees to it that using it the first time takes this process no longer than later: whole bytes of an arena."""

    def synchronize(self) -> None: ...

    def free_bytes(self) -> int: ...

    def held_bytes(self) -> int:
        """In the worker: the memory that its process holds of this device and cannot hand back."""

    def most_held_bytes(self) -> int:
        """In the referee: the most that its process held of this device's memory at a time, beside what is shared."""

    def warm_up(self) -> None:
        """Does what is slow the first time and what nearly every model needs: products, elementwise work, a sum."""

    def hand_back(self, all_of_it: bool = False) -> None:
        """Gives memory that this process only keeps for later back to the device, where that is much."""

    def cache_bytes(self) -> int:
        """The last cache before memory: what a round must exceed or flush."""

    def flush_bytes(self) -> int:
        """How much is written before each call to evict that cache; 0 where filling the slots decides what it holds."""

    def take_places(self) -> None:
        """In the worker: its threads wait for timed work where they will not be in each other's way."""

    def begin(self) -> None:
        """And are let go when it begins."""

    def rest(self) -> None:
        """Ends what this process's own threads still do after its own work: a worker's comes next."""

    def fills_in_time(self) -> bool:
        """Whether slots are filled while the clock runs; else the worker is stopped while they are."""

    def new_gate(self) -> Gate: ...

    def join_gate(self, fds: list[int]) -> Gate: ...

    def lease_name(self) -> str: ...

    def probe(self) -> Probe: ...

    def has_neighbours(self) -> bool:
        """Whether a worker could reach other devices of the kind, and can be kept from it."""

    def nodes(self, alone: bool) -> tuple[str, ...]:
        """Files below `/dev` that a worker needs; with `alone` none of another device of the kind."""

    def environment(self, alone: bool) -> dict[str, str]:
        """Variables that a worker needs to use this device, where it is `alone` or sees others too."""
