"""What a referee asks of the builder, and what it is told."""

from __future__ import annotations

from typing import Literal

from kbench.protocol import BuildAsk
from kbench.records import BuildMode, Kernel, Record


class Request(Record, frozen=True):
    """One build, from the referee."""

    ask: BuildAsk
    arch_list: str | None
    layers: tuple[str, ...]
    timeout_s: float
    mode: BuildMode = "auto"
    flags_only: bool = False  # nothing built from it could run here: only ask whether its flags are possible


class BuildOutcome(Record, frozen=True):
    """What became of it. The artifact comes along as a descriptor where there is one, then the glue it needs."""

    key: str
    cached: bool
    seconds: float
    sha256: str | None
    log: str
    path: Literal["light", "full"] | None = None
    why_full: str | None = None
    kernels: tuple[Kernel, ...] = ()
    with_glue: bool = False
    log_file: str | None = None
    timed_out: bool = False
    usage: bool = False  # what is wrong here is how kbench was called
    machine: str | None = None  # this machine cannot build it
    fix: str | None = None
