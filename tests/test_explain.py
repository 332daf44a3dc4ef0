from __future__ import annotations

import pytest
from kbench.build.explain import first_error


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("ATen.h:5:2: error: #error C++17 or later compatible compiler is required", "torch's headers need C++17"),
        ("main.cpp: In function\n/x/main.cpp:12:5: error: 'foo' was not declared in this scope\n", "main.cpp:12:5"),
        ("cc1plus: fatal error: /usr/include/x.h: Permission denied", "Permission denied"),
        ('/x/cuda.cu(7): error: identifier "bar" is undefined\n', "cuda.cu(7)"),
        ("/usr/bin/ld: main.o: undefined reference to `scale(float*)'", "unresolved symbol scale(float*)"),
        ("something else\nlast words", "last words"),
        ("", "without a message"),
    ],
)
def test_the_line_that_matters(log: str, says: str) -> None:
    assert says in first_error(log)
