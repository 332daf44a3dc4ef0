from __future__ import annotations

import pytest
from kbench.options import Option, nearest
from kbench.settings import OPTIONS, SEED

BY_NAME = {option.name: option for option in (*OPTIONS, SEED)}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("budget", "1e-3", 0.001),
        ("budget", "5", 5.0),
        ("trials", "3", 3),
        ("trials", "3.0", 3),
        ("require-jail", "true", True),
        ("baseline", "compile-max-autotune", "compile-max-autotune"),
        ("timeout", "call=1.5", ("call", 1.5)),
        ("entry", "on", "on"),
        ("seed", "9223372036854775807", 2**63 - 1),
    ],
)
def test_text_means_what_the_option_takes(name: str, text: str, value: object) -> None:
    assert BY_NAME[name].value(text) == value


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("budget", "0", "more than 0"),
        ("budget", "soon", "no number"),
        ("budget", "nan", "no number"),
        ("budget", "inf", "no number"),
        ("budget", "1e999", "too large"),
        ("trials", "2.5", "whole number"),
        ("trials", "0", "at least 1"),
        ("trials", "1e30", "whole number"),
        ("seed", "9223372036854775808", "at most"),
        ("processes", "65", "at most 64"),
        ("require-jail", "on", "neither true nor false"),
        ("baseline", "compil", "nearest is 'compile'"),
        ("timeout", "cal=1", "nearest is 'call'"),
        ("timeout", "call", "STAGE=SECONDS"),
        ("entry", "", "empty"),
    ],
)
def test_what_it_does_not_take_is_said(name: str, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        BY_NAME[name].value(text)


def test_a_value_is_checked_like_its_text() -> None:
    assert BY_NAME["timeout"].complaint({"call": 2.0}) is None
    assert "more than 0" in (BY_NAME["timeout"].complaint({"call": 0.0}) or "")
    assert "no number" in (BY_NAME["atol"].complaint(float("nan")) or "")


def test_every_setting_has_its_variable() -> None:
    assert BY_NAME["require-jail"].variable == "KBENCH_REQUIRE_JAIL"
    assert len({option.variable for option in OPTIONS}) == len(OPTIONS)


def test_nearest_names_what_is_close_and_nothing_else() -> None:
    assert nearest("budgte", ["budget", "trials"]) == "; the nearest is 'budget'"
    assert nearest("zzz", ["budget"]) == ""


def test_choices_are_listed_as_one_says_them() -> None:
    option = Option("x", "x", "word", "", choices=("a", "b", "c"))
    with pytest.raises(ValueError, match="a, b or c"):
        option.value("q")
