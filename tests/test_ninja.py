from __future__ import annotations

import re
from pathlib import Path

import pytest
from kbench.build import ninja

WRITTEN = """ninja_required_version = 1.3
cxx = c++
nvcc = /cuda/bin/nvcc

cflags = -DTORCH_EXTENSION_NAME=x -isystem /t/include -isystem /t/include/torch/csrc/api/include -isystem /cuda/include -fPIC -std=c++17 -O3
post_cflags =
cuda_cflags = -DTORCH_EXTENSION_NAME=x -isystem /t/include -isystem /t/include/torch/csrc/api/include -isystem /cuda/include --expt-relaxed-constexpr
ldflags = -shared -L/t/lib -lc10 -lc10_cuda -ltorch_cpu -ltorch_cuda -ltorch -ltorch_python -L/cuda/lib64 -lcudart -ltorchy

rule compile
  command = $cxx $cflags -c $in -o $out

build main.o: compile /s/main.cpp
build x.so: link main.o
"""  # noqa: E501


def variable(text: str, name: str) -> str:
    found = re.search(rf"^{name} = (.*)$", text, re.M)
    return found[1] if found else ""


def test_light_takes_torch_out_and_nothing_else() -> None:
    bent = ninja.light(WRITTEN, "/t/include", "/light", "/glue/libkbl.so", wants_cublas=False)
    assert variable(bent, "cflags") == (
        "-DTORCH_EXTENSION_NAME=x -isystem /light  -isystem /cuda/include -fPIC -std=c++17 -O3"
    )
    assert "/t/include" not in bent
    assert "--expt-relaxed-constexpr" in variable(bent, "cuda_cflags")
    linking = variable(bent, "ldflags").split()
    assert {"-lcudart", "-ltorchy", "/glue/libkbl.so", "-Wl,-z,defs"} <= set(linking)
    assert not {"-ltorch", "-lc10", "-ltorch_python", "-lcublas"} & set(linking)
    assert "build x.so: link main.o" in bent


def test_cublas_is_linked_where_it_is_named() -> None:
    assert "-lcublas" in ninja.light(WRITTEN, "/t/include", "/light", "/glue", wants_cublas=True)


def test_only_nvcc_is_asked_what_kernels_use() -> None:
    text = ninja.with_usage(WRITTEN)
    assert variable(text, "cuda_cflags").endswith("-Xptxas -v")
    assert variable(text, "cflags") == variable(WRITTEN, "cflags")


def test_a_failing_command_says_what_it_printed(tmp_path: Path) -> None:
    text = "rule r\n  command = echo what went wrong; exit 3\nbuild x: r\n"
    with pytest.raises(ninja.Failed, match="what went wrong"):
        ninja.run(tmp_path, text, 1)
    assert "fine" in ninja.run(tmp_path, "rule r\n  command = echo fine; touch x\nbuild x: r\n", 1)
