from __future__ import annotations

import time

import pytest
from kbench.build.explain import explain, find, first_error
from kbench.protocol import BuildAsk

SOURCE = '''import torch
CUDA = r"""
__global__ void k(float* x) {
    x[0] = bar(x);
    y = 3;
}
void run(float* x) {
    k<<<1, 1>>>(x);
}
"""
load_inline(name="m", cpp_sources="void run(float* x) { return oops; }", cuda_sources=CUDA, functions=["run", "gone"])
'''
CUDA = SOURCE.split('"""')[1]
ASK = BuildAsk(
    kind="inline",
    name="m",
    cpp_sources=("void run(float* x) { return oops; }",),
    cuda_sources=(CUDA,),
    functions={"run": "run", "gone": "gone"},
)


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("ATen.h:5:2: error: #error C++17 or later compatible compiler is required", "torch's headers need C++17"),
        ("main.cpp: In function\n/x/main.cpp:12:5: error: 'foo' was not declared in this scope\n", "main.cpp:12"),
        ("cc1plus: fatal error: /usr/include/x.h: Permission denied", "Permission denied"),
        ('/x/cuda.cu(7): error: identifier "bar" is undefined\n', "cuda.cu:7"),
        ("/usr/bin/ld: main.o: undefined reference to `scale(float*)'", "unresolved symbol scale(float*)"),
        ('1 error detected in the compilation of x\n/x/cuda.cu(3): error: expected a ";"\n', "cuda.cu:3"),
        (
            "ptxas /tmp/x.ptx, line 19; error   : Feature 'wgmma' not supported on .target 'sm_80'",
            "lacks the instruction",
        ),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_30'", "does not know that architecture"),
        (
            "/usr/bin/ld: cannot find -lnope: No such file\ncollect2: error: ld returned 1\n",
            "remove it from extra_ldflags",
        ),
        ("/tmp/a.s: Assembler messages:\n/tmp/a.s:7: Error: file not found: x.bin\n", "a.s:7: file not found"),
        ("x\nninja: build stopped: subcommand failed.", "x"),
        ("something else\nlast words", "last words"),
        ("", "without a message"),
    ],
)
def test_the_line_that_matters(log: str, says: str) -> None:
    assert says in first_error(log)


def place(log: str, ask: BuildAsk = ASK, source: str = SOURCE) -> tuple[str | None, int | None, int | None]:
    error = explain(log, ask, {"s.py": source})
    return error.file, error.line, error.column


def test_a_line_of_a_string_is_found_in_the_file_it_stands_in() -> None:
    # Three lines of includes, and the string begins with a line's end.
    log = '/b/cuda.cu(6): error: identifier "bar" is undefined\n      x[0] = bar(x);\n             ^\n'
    assert place(log) == ("s.py", 4, SOURCE.splitlines()[3].index("bar") + 1)


def test_a_source_of_one_line_is_found_between_its_quotes() -> None:
    log = "/b/main.cpp:2:29: error: 'oops' was not declared in this scope\n"
    assert place(log) == ("s.py", 11, SOURCE.splitlines()[10].index("oops") + 1)


def test_a_binding_without_a_function_points_at_its_name() -> None:
    log = (
        "/b/main.cpp:5:45: error: 'gone' was not declared in this scope\n"
        '    5 | m.def("gone", torch::wrap_pybind_function(gone), "gone");'
    )
    assert place(log) == ("s.py", 11, SOURCE.splitlines()[10].index("gone") + 1)
    assert "cpp_sources never declares it" in (explain(log, ASK, {"s.py": SOURCE}).hint or "")


def test_lines_that_stand_twice_are_told_apart_by_their_neighbours() -> None:
    doubled = SOURCE + '\nOTHER = """\nint f() {\n    x[0] = bar(x);\n}\n"""\n'
    log = '/b/cuda.cu(6): error: identifier "bar" is undefined\n'
    assert place(log, source=doubled)[:2] == ("s.py", 4)


def test_a_line_that_python_wrote_is_not_pointed_at() -> None:
    made = BuildAsk(kind="inline", name="m", cpp_sources=("int f() {\n  return undefined_7;\n}",))
    error = explain("/b/main.cpp:3:10: error: 'undefined_7' was not declared\n", made, {"s.py": SOURCE})
    assert error.file is None
    assert error.message.startswith("main.cpp:3: ")


def test_an_error_in_a_file_of_its_own_is_at_that_line() -> None:
    ask = BuildAsk(kind="files", name="m", sources=("dev/shm/s/k.cu",), files={"dev/shm/s/k.cu": CUDA})
    error = explain('/b/files/dev/shm/s/k.cu(3): error: expected a ";"\n', ask, {"solution.py": "", "k.cu": CUDA})
    assert (error.file, error.line, error.code) == ("k.cu", 3, CUDA.splitlines()[2])


def test_an_error_in_a_header_of_torch_is_told_with_its_place() -> None:
    error = explain("/t/include/c10/util/Half.h:30:2: error: no\n", ASK, {"s.py": SOURCE})
    assert (error.file, error.message) == (None, "Half.h:30: no")


def test_what_only_follows_is_passed_over() -> None:
    log = "Error building extension 'm': x\ncollect2: error: ld returned 1 exit status\n/b/main.cpp:1:1: error: first\n"
    assert find(log).what == "first"


@pytest.mark.parametrize(
    "log",
    [
        "error:",
        "\x00\xff error: ",
        ": error: x",
        "a" * 10**5,
        "(3): error: x" * 1000,
        "#error" * 10**5,
        "error" + " " * 10**6 + "x",
        "\n".join(["x" * 3000] * 1000),
        f"foo:{'9' * 5000}: error: x",
        "undefined reference to `" * 10**4,
    ],
    ids=range(10),
)
def test_no_log_is_too_strange(log: str) -> None:
    began = time.monotonic()
    assert explain(log, ASK, {"s.py": SOURCE}).message
    assert explain(log, ASK, {}).message
    assert time.monotonic() - began < 5
