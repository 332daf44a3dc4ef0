from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from kbench.errors import MachineFault
from kbench.referee import busy
from kbench.referee.busy import Busy, Watch
from kbench.referee.evaluate import Evaluation
from kbench.referee.ruling import Stopped

CALM_S, TURN_S = 0.0001, 0.002


def taking(*seconds: float) -> Callable[[], float]:
    """A flush that takes these times, one after the other, and the last one from then on."""
    left = list(seconds)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    monkeypatch.setattr(busy, "APART_S", 0.0001)
    monkeypatch.setattr(busy, "LEAST_S", 0.02)
    monkeypatch.setattr(busy, "LONG_S", 0.1)
    monkeypatch.setattr(busy, "WAIT_S", 0.01)
    made = Watch()
    made.calm_s = CALM_S
    return made


def test_one_quick_flush_of_a_few_shows_that_nobody_works(watch: Watch) -> None:
    assert not watch.sees_work(taking(CALM_S))
    assert not watch.sees_work(taking(TURN_S, TURN_S, 1.5 * CALM_S))  # the host was slow
    assert watch.sees_work(taking(TURN_S))


def test_a_watch_that_began_beside_others_work_learns_better(watch: Watch) -> None:
    watch.calm_s = TURN_S
    assert not watch.sees_work(taking(TURN_S))
    assert not watch.sees_work(taking(CALM_S))
    assert watch.sees_work(taking(TURN_S))


def test_what_is_soon_over_is_waited_for(watch: Watch) -> None:
    watch.demand_rest(taking(*[TURN_S] * 12, CALM_S))
    with pytest.raises(Busy):
        watch.demand_rest(taking(TURN_S))


@pytest.mark.parametrize(("at_work", "calm", "often"), [(0, 20, False), (5, 15, False), (6, 14, True), (3, 4, False)])
def test_what_medians_bear_is_not_too_often_nor_are_a_few_looks(at_work: int, calm: int, often: bool) -> None:
    assert busy.too_often([True] * at_work + [False] * calm) is often


def test_one_kind_of_round_does_not_hide_among_the_others() -> None:
    calm = [False] * 40
    busy.demand_calm([calm, [True, True, *[False] * 6]])
    with pytest.raises(busy.Busy):
        busy.demand_calm([calm, [True, True, True, *[False] * 5]])


def test_who_ended_is_to_blame_only_if_it_is_over_then(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    assert watch.calms_down(taking(*[TURN_S] * 12, CALM_S), 0.02)
    assert not watch.calms_down(taking(CALM_S, *[TURN_S] * 300, CALM_S), 0.02)  # somebody else, who rests at times
    monkeypatch.setattr(busy, "PATIENCE_S", 0.01)
    assert not watch.calms_down(taking(TURN_S), 0.0)


def peaceful(watch: Watch, flush: Callable[[], float], *disturbed: bool) -> int:
    """How many series were given up, of which these are disturbed."""
    left = list(disturbed)

    def run() -> None:
        if left.pop(0):
            raise Busy

    one = Evaluation.__new__(Evaluation)
    one.draft = SimpleNamespace(disturbed=0)  # type: ignore[assignment]
    one.exams = SimpleNamespace(watch=watch)  # type: ignore[assignment]
    one.staff = SimpleNamespace(see_off=lambda: None)  # type: ignore[assignment]
    one.solution, one.deadline = None, float("inf")
    baseline = SimpleNamespace(arena=SimpleNamespace(flush_once=flush))
    one._in_peace(run, baseline)  # type: ignore[arg-type]
    return one.draft.disturbed


def test_a_disturbed_series_is_measured_again(watch: Watch) -> None:
    assert peaceful(watch, taking(CALM_S), False) == 0
    assert peaceful(watch, taking(CALM_S), True, False) == 1


def test_after_two_the_solution_is_to_blame_or_the_machine(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Stopped, match="left work running"):
        peaceful(watch, taking(*[TURN_S] * 3, CALM_S), True, True)
    monkeypatch.setattr(busy, "PATIENCE_S", 0.01)
    with pytest.raises(MachineFault, match="other work"):
        peaceful(watch, taking(TURN_S), True, True)


def test_who_was_not_seen_at_work_just_before_is_looked_for_longer(watch: Watch) -> None:
    for first, least in (([TURN_S] * 3, busy.LEAST_S), ([CALM_S], busy.LONG_S)):
        began = time.monotonic()
        with pytest.raises(Stopped, match="left work running"):
            peaceful(watch, taking(*first, CALM_S), True, True)
        took = time.monotonic() - began
        assert least <= took
    with pytest.raises(MachineFault, match="other work"):  # in turns with rests, and not the solution's
        peaceful(watch, taking(*([TURN_S] * 9 + [CALM_S]) * 500), True, True)
