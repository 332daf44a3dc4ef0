from __future__ import annotations

import pytest
from kbench.errors import UsageFault
from kbench.settings import Settings, checked, deadlines


@pytest.mark.parametrize(
    "bad",
    [
        {"trials": 0},
        {"budget_s": 0.0},
        {"processes": 0},
        {"baselines": ("best",)},
        {"atol": -1.0},
        {"rtol": float("nan")},
        {"timeouts": {"cal": 1.0}},
        {"timeouts": {"call": float("nan")}},
        {"seed": -1},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageFault):
        checked(Settings(**bad))  # type: ignore[arg-type]


def test_the_user_overrides_the_problem_overrides_the_defaults() -> None:
    found = deadlines(Settings(timeouts={"call": 1.0}), "cpu", {"call": 2.0, "load": 3.0})
    assert (found["call"], found["load"], found["build"]) == (1.0, 3.0, 300)
