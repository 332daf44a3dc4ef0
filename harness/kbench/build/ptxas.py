"""What `ptxas -v` says that each kernel uses."""

from __future__ import annotations

import re
import subprocess

from msgspec import structs

from kbench.records import Kernel

ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)' for '(?P<arch>[^']+)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
MAX_NAME = 300


def kernels(log: str) -> tuple[Kernel, ...]:
    """One record a kernel and architecture, in the order of the log. Names stay mangled."""
    parts = ENTRY.split(log)
    return tuple(_kernel(*parts[i : i + 3]) for i in range(1, len(parts) - 2, 3))


def _kernel(name: str, arch: str, text: str) -> Kernel:
    spills, registers, shared = SPILLS.search(text), REGISTERS.search(text), SHARED.search(text)
    return Kernel(
        name=name[:MAX_NAME],
        arch=arch,
        registers=int(registers[1]) if registers else 0,
        stack_bytes=int(spills[1]) if spills else 0,
        spill_stores_bytes=int(spills[2]) if spills else 0,
        spill_loads_bytes=int(spills[3]) if spills else 0,
        shared_bytes=int(shared[1]) if shared else 0,
    )


def demangled(found: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """The names as one writes them, where c++filt is at hand."""
    try:
        run = subprocess.run(
            ["c++filt"], input="\n".join(k.name for k in found), capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return found
    names = run.stdout.splitlines()
    if run.returncode or len(names) != len(found):
        return found
    return tuple(structs.replace(kernel, name=name[:MAX_NAME]) for kernel, name in zip(found, names, strict=True))
