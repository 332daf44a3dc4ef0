"""The mistakes that solutions make most, put before real compilers: what they print must lead to the hint."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from kbench.build import explain, standins, toolchain
from kbench.build.hints import hint_for

TORCH_INCLUDE = Path(torch.__file__).parent / "include"
KERNEL = "__global__ void k(float* x, int n) { x[threadIdx.x] = n; }\n"


class Mistake(NamedTuple):
    source: str
    hint: str
    cuda: bool = True
    flags: tuple[str, ...] = ()
    link: bool = False


MISTAKES = {
    "host function in a kernel": Mistake(
        "#include <cmath>\nfloat f(float x) { return x; }\n__global__ void k(float* x) { *x = f(*x); }",
        "mark the function",
    ),
    "device function on the host": Mistake(
        "__device__ float f(float x) { return x; }\nfloat g() { return f(1); }", "run only in kernels"
    ),
    "kernel called like a function": Mistake(KERNEL + "void f(float* x) { k(x, 3); }", "<<<blocks, threads>>>"),
    "wrong type in a launch": Mistake(KERNEL + "void f(double* x) { k<<<1, 1>>>(x, 3); }", "another type"),
    "conversion": Mistake("struct A {};\nint f(A a) { int x = a; return x; }", "types differ", cuda=False),
    "no such overload": Mistake("void f(int*); void f(char*, int); void g() { f(1.5, 2, 3); }", "overload", cuda=False),
    "ambiguous half": Mistake(
        "#include <cuda_fp16.h>\n__global__ void k(__half a, __half* o) { *o = a + a; }",
        "__half2float",
        flags=("-D__CUDA_NO_HALF_OPERATORS__",),
    ),
    "unknown architecture": Mistake(KERNEL, "does not know that architecture", flags=("-arch=sm_30",)),
    "instruction of another architecture": Mistake(
        '__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }', "lacks the instruction"
    ),
    "too much shared memory": Mistake(
        "__global__ void k(float* x) { __shared__ float s[20000]; s[threadIdx.x] = *x; __syncthreads(); *x = s[0]; }",
        "48 KB",
    ),
    "missing header": Mistake("#include <no/such.h>\n", "not on this machine", cuda=False),
    "missing header in cuda": Mistake('#include "no_such.cuh"\n', "not on this machine"),
    "declared, never defined": Mistake(
        'int f(int); extern "C" int g() { return f(1); }', "never defined", cuda=False, link=True
    ),
    "library not linked": Mistake(
        'extern "C" int cublasCreate_v2(void**); int g(void** h) { return cublasCreate_v2(h); }',
        "-lcublas",
        cuda=False,
        link=True,
    ),
    "defined twice": Mistake("int f() { return 1; }\nint f() { return 2; }", "defined twice", cuda=False),
    "undeclared": Mistake("int f() { return missing(3); }", "declare it before its use", cuda=False),
    "undeclared in cuda": Mistake("__global__ void k(float* x) { *x = missing; }", "declare it before its use"),
    "not bound": Mistake(
        '#include <torch/extension.h>\nPYBIND11_MODULE(x, m) {\nm.def("f", torch::wrap_pybind_function(f), "f");\n}',
        "cpp_sources never declares it",
        cuda=False,
    ),
    "no such member": Mistake(
        "#include <torch/extension.h>\nint f(torch::Tensor x) { return x.nothing(); }",
        "not in these headers",
        cuda=False,
    ),
    "no such name": Mistake("#include <vector>\nstd::vektor<int> v;", "not in these headers", cuda=False),
    "syntax": Mistake("int f( { return 1; }", "syntax error", cuda=False),
    "syntax in cuda": Mistake("__global__ void k(float* x) { *x = 1 }", "syntax error"),
    "endless templates": Mistake(
        "template <int N> struct A { static constexpr int v = A<N + 1>::v; };\nint f() { return A<0>::v; }",
        "instantiate each other",
        cuda=False,
    ),
    "unknown flag": Mistake("int f();", "knows no such flag", cuda=False, flags=("--not-a-flag",)),
    "static assertion": Mistake('static_assert(sizeof(int) == 8, "eight");', "text of the assertion", cuda=False),
    "template argument": Mistake("#include <array>\nstd::array<int> f();", "template", cuda=False),
}


@pytest.fixture(scope="module")
def include(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("light") / "include"
    standins.lay_out(folder, TORCH_INCLUDE, {})
    return folder


@pytest.mark.parametrize("name", MISTAKES)
def test_what_a_compiler_says_leads_to_the_hint(name: str, include: Path, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    tools = toolchain.find()
    if mistake.cuda and not tools.nvcc:
        pytest.skip("no nvcc here")
    source = tmp_path / ("cuda.cu" if mistake.cuda else "main.cpp")
    source.write_text(mistake.source)
    log = _compile(mistake, source, include, tools)
    found = explain.find(log)
    assert mistake.hint in (hint_for(found.what, log) or ""), (found, log[:2000])
    if (
        not mistake.link
        and not mistake.flags
        and name not in ("too much shared memory", "instruction of another architecture")
    ):
        assert found.file is not None and found.line is not None, log[:2000]


def _compile(mistake: Mistake, source: Path, include: Path, tools: toolchain.Toolchain) -> str:
    output = source.with_suffix(".o")
    if mistake.cuda:
        arch = () if any("arch" in flag for flag in mistake.flags) else ("-arch=sm_90",)
        command = [
            str(tools.nvcc),
            *arch,
            "-std=c++17",
            f"-I{include}",
            *mistake.flags,
            "-c",
            str(source),
            "-o",
            str(output),
        ]
    else:
        command = [str(tools.compiler), "-std=c++20", "-fPIC", f"-I{include}", *mistake.flags, "-c", str(source)]
        command += ["-o", str(output)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if mistake.link:
        assert run.returncode == 0, run.stderr
        command = [str(tools.compiler), "-shared", str(output), "-Wl,-z,defs", "-o", str(output.with_suffix(".so"))]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    return run.stdout + run.stderr


@pytest.mark.parametrize(
    ("what", "hint"),
    [
        ("the compiler was ended by our limit on memory", "more memory to compile"),
        ("/usr/include/x.h: Permission denied", "toolchain and the solution's own files"),
        ("torch's headers need C++17; remove the older -std flag", "torch adds the right -std"),
        ("the flag '-B' has the compiler run a program of the solution's choosing; remove it", "no build needs it"),
        ("something nobody has seen", None),
    ],
)
def test_what_kbench_says_itself_has_a_hint_too(what: str, hint: str | None) -> None:
    found = hint_for(what)
    assert found is None if hint is None else hint in (found or "")
