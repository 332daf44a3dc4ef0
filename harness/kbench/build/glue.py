"""Compiles the glue: the C symbols between light objects and torch, once per torch."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import torch
import torch.utils.cpp_extension as extension

from kbench.build import flags, standins

SONAME = "libkbl.so"
LIBRARIES = ("-lc10", "-ltorch_cpu", "-ltorch_python")
CUDA_LIBRARIES = ("-lc10_cuda", "-ltorch_cuda")


class Unbuildable(Exception):
    """This torch and this compiler make no glue; the text is what they said."""


def build(folder: Path, compiler: str, cuda_home: str | None) -> Path:
    """All parts side by side, then linked against torch."""
    with_cuda = torch.version.cuda is not None and cuda_home is not None
    parts = ["tensor", "python", "cuda" if with_cuda else "cuda_absent"]
    includes = [f"-isystem{path}" for path in _includes(cuda_home if with_cuda else None)]
    running = [
        _start([compiler, *_flags(), *includes, "-c", str(source), "-o", str(folder / f"{part}.o")])
        for part, source in ((part, standins.GLUE / f"{part}.cpp") for part in parts)
    ]
    for process in running:
        _finish(process)
    objects = [str(folder / f"{part}.o") for part in parts]
    libraries = [f"-L{Path(torch.__file__).parent / 'lib'}", *LIBRARIES, *(CUDA_LIBRARIES if with_cuda else ())]
    target = folder / SONAME
    _finish(_start([compiler, "-shared", "-s", *objects, f"-Wl,-soname,{SONAME}", *libraries, "-o", str(target)]))
    return target


def _flags() -> list[str]:
    standard = flags.torch_year(Path(extension.__file__).read_text()) % 100
    return [
        "-O1",
        f"-std=c++{standard}",
        "-fPIC",
        "-fvisibility=hidden",
        "-fvisibility-inlines-hidden",
        "-w",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
        f"-I{standins.INCLUDE}",
    ]


def _includes(cuda_home: str | None) -> list[str]:
    base = Path(torch.__file__).parent / "include"
    own = [base, base / "torch" / "csrc" / "api" / "include", Path(sysconfig.get_paths()["include"])]
    return [str(path) for path in own] + ([f"{cuda_home}/include"] if cuda_home else [])


def _start(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def _finish(process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate()
    if process.returncode:
        raise Unbuildable(output)
