from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.utils.cpp_extension as cpp_extension
from kbench.build import flags


@pytest.mark.parametrize(
    "flag",
    [
        "-wrapper /bin/sh",
        "-fplugin=/tmp/evil.so",
        "-fplugin-arg-x=1",
        "-specs=/tmp/s",
        "--specs=/tmp/s",
        "-B/tmp/bin",
        "-B /tmp/bin",
        "-ccbin",
        "-ccbin=/tmp/g++",
        "--compiler-bindir=/tmp",
        "-Xcompiler -fplugin=/tmp/evil.so",
        "-Xcompiler=-wrapper,/bin/sh",
        "--compiler-options=-B/tmp",
        "-Wl,-plugin,/tmp/evil.so",
        "-Xlinker --plugin=/tmp/evil.so",
        "@/tmp/flags",
        "-no-integrated-cpp",
        "-O3 -wrapper /bin/sh",
        '-f""plugin=/tmp/evil.so',
        "--options-file /tmp/flags",
    ],
)
def test_flags_that_run_a_program_are_refused(flag: str) -> None:
    assert "program of the solution's choosing" in (flags.refused(["-O2", flag]) or "")


@pytest.mark.parametrize("flag", ["-O1 ; id", "-O1 && id", "`id`", "-DX=$(id)", "-O1\nid", "-O1 | id", "-O1 > x"])
def test_what_a_shell_would_run_is_refused(flag: str) -> None:
    assert "for a shell" in (flags.refused(["-O2", flag]) or "")


@pytest.mark.parametrize(
    "flag",
    [
        "-O3",
        "--use_fast_math",
        "-Wl,-Bsymbolic",
        "-Wl,-Bstatic",
        "-lcublas",
        "-fopenmp",
        "-march=native",
        "-gencode arch=compute_90a,code=sm_90a",
        "-Xptxas -v,-O3",
        "-Xcompiler -fopenmp",
        "-fuse-ld=gold",
        '-DNAME="x"',
        "-DX=$Y",
        "--expt-relaxed-constexpr",
        "-lineinfo",
        "-std=c++20",
    ],
)
def test_flags_that_solutions_use_are_not(flag: str) -> None:
    assert flags.refused([flag]) is None


@pytest.mark.parametrize(
    ("given", "year"),
    [
        (["-std=c++14"], 2014),
        (["--std=c++17"], 2017),
        (["-std=gnu++20"], 2020),
        (["-O2"], None),
        (["-std=c++14", "-std=c++2a"], 2020),
        ([], None),
    ],
)
def test_the_standard_that_flags_end_up_with(given: list[str], year: int | None) -> None:
    assert flags.year(given) == year


def test_what_this_torch_wants_is_read_from_it() -> None:
    header = Path(torch.__file__).parent / "include" / "ATen" / "ATen.h"
    assert flags.least_year(header.read_text()) in (2017, 2020, 2023)
    own = flags.torch_year(Path(cpp_extension.__file__).read_text())
    assert own >= flags.least_year(header.read_text())
    assert f"-std=c++{own % 100}" in Path(cpp_extension.__file__).read_text()
