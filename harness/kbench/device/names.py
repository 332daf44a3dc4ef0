"""How a device is named: `auto`, `cpu`, `cuda`, `cuda:1`. Needs no torch."""

from __future__ import annotations

import re

from kbench.errors import UsageFault

PATTERN = re.compile(r"auto|cpu|cuda(?::(\d+))?")


def check_name(name: str) -> None:
    if not PATTERN.fullmatch(name):
        raise UsageFault(f"unknown device {name!r}", "devices are auto, cpu, cuda and cuda:<index>")
