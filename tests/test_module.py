from __future__ import annotations

from kbench import module


def test_overrides_meet_every_form_of_assignment() -> None:
    text = "a: int = 1\nb = c = 2\n(d, e) = 3, 4\nf = a + b + d\ndef g(): a = 9; return a\n"
    loaded = module.execute(text, "x.py", "kbench_test_module", {"a": 10, "c": 20, "d": 30})
    assert (loaded.a, loaded.b, loaded.c, loaded.d, loaded.e, loaded.f) == (10, 2, 20, 30, 4, 42)
    assert loaded.g() == 9


def test_constants_are_top_level_only() -> None:
    assert module.constants("a = 1\nb: int\ndef f():\n    c = 1\n", "x.py") == {"a"}


def test_a_traceback_begins_in_the_solutions_own_file() -> None:
    loaded = module.execute("def f():\n    return 1 / 0\n", "/own/x.py", "kbench_test_module")
    try:
        loaded.f()
    except ZeroDivisionError as error:
        shown = module.own_traceback(error, "/own")
    assert "/own/x.py" in shown
    assert "test_module.py" not in shown
