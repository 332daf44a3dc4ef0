"""Looks at the machine: one finding a line, each with the command that mends it. Nothing here changes anything."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from kbench import units
from kbench.build import cache, toolchain
from kbench.device import telemetry
from kbench.jail import layers
from kbench.records import Record

State = Literal["ok", "warn", "fail"]
LOW_DISK = 2 * 2**30


class Finding(Record, frozen=True):
    name: str
    state: State
    text: str
    fix: str | None = None


def all_findings() -> list[Finding]:
    return [finding for look in LOOKS for finding in look()]


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    yield Finding("python", "ok" if good else "fail", version, None if good else "install Python 3.11 or newer")


def _torch() -> Iterator[Finding]:
    code = "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"
    told = _output([sys.executable, "-P", "-c", code])  # not what happens to lie here
    if told is None:
        yield Finding("torch", "fail", "cannot be imported", "pip install torch")
        return
    version, cuda, available = told.split()[-3:]
    yield Finding("torch", "ok", f"{version}, built for {'CUDA ' + cuda if cuda != 'None' else 'the CPU'}")
    yield from _nvcc(None if cuda == "None" else cuda)
    yield from _gpu(available == "True")


def _compiler() -> Iterator[Finding]:
    tools = toolchain.find()
    if tools.compiler:
        yield Finding("compiler", "ok", f"{tools.compiler} {tools.compiler_version or ''}".strip())
    else:
        yield Finding("compiler", "fail", "no C++ compiler", "apt-get install g++")
    if not shutil.which("ninja") and not Path(sys.executable).with_name("ninja").exists():
        yield Finding("ninja", "fail", "not found", "pip install ninja")


def _nvcc(torch_cuda: str | None) -> Iterator[Finding]:
    tools = toolchain.find()
    if tools.nvcc_version is None:
        fix = "install the CUDA toolkit that torch was built for, or set CUDA_HOME"
        yield Finding("nvcc", "warn", "not found: CUDA solutions cannot be built", fix)
    elif torch_cuda and tools.nvcc_version.split(".")[0] != torch_cuda.split(".")[0]:
        text = f"{tools.nvcc_version} against torch's CUDA {torch_cuda}: extensions will not build"
        yield Finding("nvcc", "fail", text, f"install CUDA {torch_cuda}, or set CUDA_HOME")
    else:
        note = f", as torch's CUDA {torch_cuda}" if torch_cuda else "; torch here has no CUDA to run it with"
        yield Finding("nvcc", "ok", f"{tools.nvcc_version}{note}")


def _gpu(available: bool) -> Iterator[Finding]:
    listed = telemetry.smi("--query-gpu=name,driver_version,memory.total", "--format=csv,noheader", seconds=60)
    if not listed:
        yield Finding("gpu", "warn", "none: the CPU is the device", "run on a machine with an NVIDIA GPU to time CUDA")
        return
    for number, line in enumerate(listed.strip().splitlines()):
        name, driver, memory = (part.strip() for part in line.split(","))
        yield Finding("gpu", "ok" if available else "fail", f"cuda:{number} {name}, {memory}, driver {driver}", None)
    if not available:
        yield Finding("gpu", "fail", "torch cannot use it", "install a torch that was built for this driver's CUDA")
    pids = (telemetry.smi("--query-compute-apps=pid", "--format=csv,noheader", seconds=60) or "").split()
    state: State = "warn" if pids else "ok"
    text = f"also used by processes {', '.join(pids)}" if pids else "no other process on it"
    yield Finding("gpu use", state, text, "end them before timing" if pids else None)
    nvml = telemetry.has_nvml()
    yield Finding("telemetry", "ok", "NVML" if nvml else "nvidia-smi (pip install nvidia-ml-py asks more often)")


def _jail() -> Iterator[Finding]:
    works, lacking = layers.probe()
    for name in layers.LAYERS:
        if name in works:
            continue
        yield Finding("jail", "warn", f"no {name}: {lacking[name]}", "run as root, or allow user namespaces")
    if not lacking:
        yield Finding("jail", "ok", f"complete: {', '.join(layers.LAYERS)}")


def _disk() -> Iterator[Finding]:
    folder = cache.default_folder()
    if folder is None:
        yield Finding("cache", "warn", "cannot be written: nothing built is kept", "set KBENCH_CACHE to a folder")
        return
    free = shutil.disk_usage(folder).free
    state: State = "ok" if free > LOW_DISK else "warn"
    fix = None if state == "ok" else "free some disk, or set KBENCH_CACHE"
    yield Finding("cache", state, f"{folder}, {units.size(free)} free", fix)


def _output(command: list[str]) -> str | None:
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout if run.returncode == 0 else None


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (_python, _torch, _compiler, _jail, _disk)
