"""What is said of a build: its kernels, and where it failed."""

from __future__ import annotations

from kbench.records import Build, BuildError, Extension, Kernel
from kbench.report import build as of_build
from kbench.report.build import MAX_CODE, MAX_KERNELS


def kernel(name: str, spilled: int = 0) -> Kernel:
    return Kernel(name, "sm_90", 40, 0, spilled, spilled, 1024)


def built(*kernels: Kernel, error: BuildError | None = None, why: str | None = None) -> Build:
    extension = Extension("fused", "k", False, 1.1, None if error else "s", "light", why, kernels, error, None, "/log")
    return Build(1.1, False, "light", (extension,))


def test_only_kernels_that_spill_are_named_unless_all_are_asked_for() -> None:
    build = built(kernel("calm"), kernel("spills", 16))
    assert list(of_build.kernels(build, verbose=False)) == ["spills: 40 registers, 16 B spilled, 1024 B shared"]
    assert [line.split(":")[0] for line in of_build.kernels(build, verbose=True)] == ["calm", "spills"]


def test_a_hundred_kernels_do_not_fill_the_screen() -> None:
    build = built(*(kernel(f"{'k' * 60}{number}") for number in range(100)))
    lines = list(of_build.kernels(build, verbose=True))
    assert len(lines) == MAX_KERNELS + 1 and lines[-1] == f"and {100 - MAX_KERNELS} more kernels"
    assert all(len(line) < 80 for line in lines)


def test_the_caret_stands_under_the_column_also_of_a_long_line() -> None:
    for before in (0, 10, 200):
        code = " " * before + "wrong();"
        error = BuildError("no such function", "declare it", "a.cu", 7, before + 1, code)
        lines = list(of_build.failure(built(error=error)))
        assert lines[0] == "error in extension fused: no such function" and "--> a.cu:7" in lines[1]
        shown, caret = lines[2].split("| ", 1)[1], lines[3].split("| ", 1)[1]
        assert shown[caret.index("^")] == "w" and len(shown) <= MAX_CODE
        assert lines[-2:] == ["hint: declare it", "whole log: /log"]


def test_why_it_was_not_light_is_said_where_that_was_wanted() -> None:
    assert list(of_build.reasons(built(why="it asks for ATen"))) == ["fused not by the light path: it asks for ATen"]
    assert not list(of_build.reasons(built(why="--build full"))) and not list(of_build.reasons(built()))
