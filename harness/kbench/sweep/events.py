"""What the threads of a sweep say happened, for the one that saves and tells."""

from __future__ import annotations

from dataclasses import dataclass

from kbench.errors import KbenchError
from kbench.records import DeviceInfo, Environment, Result
from kbench.sweep.pair import Pair

Place = tuple[DeviceInfo, Environment]


@dataclass(frozen=True)
class Joined:
    device: str
    place: Place


@dataclass(frozen=True)
class Entered:
    device: str
    pair: Pair
    stage: str


@dataclass(frozen=True)
class Finished:
    device: str
    pair: Pair
    result: Result


@dataclass(frozen=True)
class Faulted:
    """A pair could not be judged there; `again` says that it will be tried again."""

    device: str
    pair: Pair
    fault: KbenchError
    again: bool


@dataclass(frozen=True)
class Lost:
    """A device that cannot be used, and the pairs that nobody can take now."""

    device: str
    fault: KbenchError
    orphans: list[Pair]


@dataclass(frozen=True)
class Left:
    """A device has nothing more to do."""

    device: str


@dataclass(frozen=True)
class Interrupted:
    """Somebody wants an end."""


@dataclass(frozen=True)
class Broken:
    """A thread of ours ended by what nobody expected."""

    error: BaseException


Event = Joined | Entered | Finished | Faulted | Lost | Left | Interrupted | Broken
