"""Which devices a sweep runs on: `cuda` means every GPU, `auto` every GPU or, without one, the CPU."""

from __future__ import annotations

from collections.abc import Iterable

from kbench.device import telemetry
from kbench.sweep.pair import Kind
from kbench.sweep.schedule import kind_of


def devices(names: Iterable[str]) -> list[str]:
    """The devices by their full names, each once."""
    found: list[str] = []
    for name in names:
        if name == "auto":
            found += telemetry.gpus() or ["cpu"]
        elif name == "cuda":
            # Without one the referee says what is missing.
            found += telemetry.gpus() or ["cuda:0"]
        else:
            found.append(name)
    return list(dict.fromkeys(found))


def kinds(devices: Iterable[str]) -> list[Kind]:
    return sorted({kind_of(name) for name in devices})
