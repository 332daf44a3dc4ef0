"""What can be said of a build without compiling anything."""

from __future__ import annotations

from pathlib import Path

import torch

from kbench.build import flags, toolchain
from kbench.protocol import BuildAsk


def of(ask: BuildAsk) -> str | None:
    """Flags that no build gets, and a `-std` that torch's headers refuse: a minute's compilation would say no more."""
    every = (*ask.extra_cflags, *ask.extra_cuda_cflags, *ask.extra_ldflags)
    refused = flags.refused(every)
    if refused:
        return f"error: {refused}"
    header = Path(torch.__file__).parent / "include" / "ATen" / "ATen.h"
    least, own = flags.least_year(header.read_text()), flags.year(every)
    if own is None or own >= least:
        return None
    given = next(flag for flag in reversed(every) if flags.year([flag]) == own)
    said = f"#error C++{least % 100} or later compatible compiler is required to use ATen."
    return f"error: the flag '{given}' is too old\nATen/ATen.h: error: {said}"


def missing(ask: BuildAsk, tools: toolchain.Toolchain) -> tuple[str, str] | None:
    if not tools.compiler:
        return "no C++ compiler on this machine", "apt-get install g++, or set CXX"
    if ask.has_cuda_sources and not tools.nvcc:
        return "no nvcc on this machine", "install the CUDA toolkit, or set CUDA_HOME"
    return None
