"""Which compilers this machine has, as the text that enters every build's key."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from kbench.records import Record


class Toolchain(Record, frozen=True):
    compiler: str | None
    compiler_version: str | None
    nvcc: str | None
    nvcc_version: str | None
    cuda_home: str | None

    @property
    def text(self) -> str:
        return "|".join(str(getattr(self, name)) for name in self.__struct_fields__)


@functools.cache
def find() -> Toolchain:
    compiler = os.environ.get("CXX", "c++")
    home = cuda_home()
    nvcc = str(Path(home, "bin", "nvcc")) if home else None
    return Toolchain(
        compiler=shutil.which(compiler) or shutil.which("g++"),
        compiler_version=_version(shutil.which(compiler) or shutil.which("g++"), r"(\S+)$"),
        nvcc=nvcc,
        nvcc_version=_version(nvcc, r"V([\d.]+)"),
        cuda_home=home,
    )


def cuda_home() -> str | None:
    """CUDA_HOME or CUDA_PATH, else the toolkit whose nvcc is on the PATH, else the usual place."""
    named = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    on_path = shutil.which("nvcc")
    # An nvcc on the PATH may be a wrapper script outside of any toolkit, so the headers must be there too.
    found = [str(Path(on_path).resolve().parent.parent)] if on_path else []
    for home in (*named, *found, "/usr/local/cuda"):
        if home and Path(home, "bin", "nvcc").exists() and Path(home, "include", "cuda_runtime.h").exists():
            return home
    return None


def arch_list(*capabilities: str) -> str:
    """GPU architectures as torch writes them, so that builds made for them are those that it asks for; may be empty."""
    return ";".join(capabilities) + "+PTX" if capabilities else ""


def _version(program: str | None, pattern: str) -> str | None:
    if not program or not Path(program).exists():
        return None
    try:
        run = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = run.stdout.splitlines() if "nvcc" in Path(program).name else run.stdout.splitlines()[:1]
    found = [match[1] for line in lines if (match := re.search(pattern, line))]
    return found[0] if found else None
