"""One thing to do in a sweep, the key that tells whether it is done, and the choosing of some by name."""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Iterable
from typing import Literal

import msgspec

from kbench.records import DeviceInfo, Environment, Record, Settings, comparable

Kind = Literal["cpu", "cuda"]
Case = tuple[str, str, str]  # device, problem, workload
KEY_LENGTH = 16
NO_MATTER = {"device": "auto", "require_jail": False, "keep": None}  # settings that change no number


class Pair(Record, frozen=True):
    """One thing to do: a solution of a problem in one workload, on one kind of device."""

    problem: str
    problem_id: str
    problem_sha256: str
    solution: str
    solution_id: str
    solution_sha256: str
    set: str | None
    workload: str
    device: Kind
    settings: Settings  # its baselines are those that are wanted, kept ones included
    grad: bool = False  # the problem asks for gradients, as far as its text says

    @property
    def name(self) -> str:
        of_set = f"{self.set}: " if self.set else ""
        return f"{self.problem_id} [{self.workload}]  {of_set}{self.solution_id}"

    @property
    def case(self) -> Case:
        """What pairs have in common that a warm referee can use again."""
        return self.device, self.problem_id, self.workload


def key(pair: Pair, device: DeviceInfo, environment: Environment) -> str:
    """The same for what would give the same numbers: content, settings that matter, device and environment."""
    baselines = tuple(sorted(pair.settings.baselines))
    settings = msgspec.structs.replace(pair.settings, baselines=baselines, **NO_MATTER)
    parts = (
        (pair.problem_id, pair.problem_sha256, pair.workload, pair.solution_id, pair.solution_sha256, pair.set),
        msgspec.to_builtins(settings),
        msgspec.to_builtins(comparable(device, environment)),
    )
    text = msgspec.json.encode(parts, order="deterministic")
    return hashlib.sha256(text).hexdigest()[:KEY_LENGTH]


def of_shard(pairs: Iterable[Pair], number: int, count: int) -> list[Pair]:
    """The part of a shard: by names only, so that it stays when others come, go or change."""
    return [pair for pair in pairs if _place(pair) % count == number - 1]


def matching(pairs: Iterable[Pair], pattern: str) -> list[Pair]:
    """Those whose name holds the pattern as it is written, else those that it fits as a glob."""
    pairs = list(pairs)
    literal = [pair for pair in pairs if pattern.lower() in pair.name.lower()]
    if literal:
        return literal
    return [pair for pair in pairs if fnmatch.fnmatch(pair.name.lower(), f"*{pattern.lower()}*")]


def _place(pair: Pair) -> int:
    names = "\0".join((pair.problem_id, pair.workload, pair.set or "", pair.solution_id, pair.device))
    return int.from_bytes(hashlib.sha256(names.encode()).digest()[:8], "big")
