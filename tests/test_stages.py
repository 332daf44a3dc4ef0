from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kbench.device.cpu import Cpu
from kbench.referee.events import Entered
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.side import Side
from kbench.referee.stages import Stages

LIMITS = {"load": 3.0, "first-call": 2.0, "total": 60.0}


def stages(told: list[Entered], spent: dict[str, float], **limits: float) -> Stages:
    return Stages(told.append, {**LIMITS, **limits}, spent)


def test_who_watches_knows_when_the_problems_code_runs_and_how_long_it_may() -> None:
    told: list[Entered] = []
    spent: dict[str, float] = {}
    now = stages(told, spent)
    with now.stage("check"), now.problem_code():
        pass
    with now.problem_code():
        pass
    assert [one.stage for one in told] == ["check", "problem", "check", "problem", "load"]
    assert told[1].limit_s == 5.0 and told[2].limit_s is None
    assert spent.keys() == {"check"}


def test_a_stage_that_fails_counts_and_one_that_comes_twice_is_summed() -> None:
    spent = {"check": 1.0}
    now = stages([], spent)
    with pytest.raises(Stopped), now.stage("check"):
        time.sleep(0.01)
        raise Stopped(Ruling("wrong", "off"))
    assert 1.01 <= spent["check"] < 1.5


@pytest.mark.parametrize("fails", [False, True])
def test_waiting_for_the_device_is_told_and_is_not_the_solutions_time(fails: bool) -> None:
    told: list[Entered] = []
    released: list[bool] = []

    def acquire(tell: Callable[[int | None], None]) -> float:
        tell(17)
        tell(None)
        return 7.0

    lease: Any = SimpleNamespace(acquire=acquire, release=lambda: released.append(True))
    now = stages(told, {})
    until = now.deadline
    with contextlib.suppress(ZeroDivisionError), now.leased(lease):
        assert now.deadline == until + 7.0 and not released
        assert fails is False or 1 / 0
    assert released == [True]
    assert [(one.stage, one.detail) for one in told] == [("lease", "17"), ("lease", "another user's")]


def test_what_a_baseline_takes_or_does_wrong_is_not_the_solutions() -> None:
    now = stages([], {}, total=0.05)
    handle: Any = SimpleNamespace()
    baseline = Side("eager", handle, Cpu(), {})
    with pytest.raises(Stopped, match="the eager baseline fails: off"), now.at_no_cost(baseline):
        time.sleep(0.1)
        raise Stopped(Ruling("wrong", "off"))
    now.demand_time()
    time.sleep(0.06)
    with pytest.raises(Stopped, match=r"longer than 0\.05 s"):
        now.demand_time()
