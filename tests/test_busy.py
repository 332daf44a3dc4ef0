from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from kbench.errors import MachineFault
from kbench.referee import busy
from kbench.referee.busy import Busy, Peace, Watch
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
    monkeypatch.setattr(busy, "PARTING_S", 0.01)
    made = Watch()
    made.calm_s = CALM_S
    return made


def test_one_quick_flush_of_a_few_shows_a_gap_and_one_slow_one_that_calm_is_not_sure(watch: Watch) -> None:
    assert not watch.sees_work(taking(CALM_S)) and watch.sees_calm(taking(CALM_S))
    for mixed in ((TURN_S, TURN_S, 1.5 * CALM_S), (CALM_S, CALM_S, TURN_S)):
        assert not watch.sees_work(taking(*mixed)) and not watch.sees_calm(taking(*mixed))
    assert watch.sees_work(taking(TURN_S)) and not watch.sees_calm(taking(TURN_S))


def test_a_watch_that_began_beside_others_work_learns_better(watch: Watch) -> None:
    watch.calm_s = TURN_S
    assert not watch.sees_work(taking(TURN_S))
    assert not watch.sees_work(taking(CALM_S))
    assert watch.sees_work(taking(TURN_S))


def test_what_is_soon_over_is_waited_for(watch: Watch) -> None:
    watch.demand_calm(taking(*[TURN_S] * 12, CALM_S), 0.02)
    with pytest.raises(Busy) as raised:
        watch.demand_calm(taking(TURN_S), 0.02)
    assert raised.value.lasting


@pytest.mark.parametrize(("at_work", "calm", "often"), [(0, 20, False), (5, 15, False), (6, 14, True), (3, 4, False)])
def test_what_medians_bear_is_not_too_often_nor_are_a_few_looks(at_work: int, calm: int, often: bool) -> None:
    assert busy.too_often([True] * at_work + [False] * calm) is often


def test_one_kind_of_round_does_not_hide_among_the_others() -> None:
    calm = [False] * 40
    busy.demand_few([calm, [True, True, *[False] * 6]])
    with pytest.raises(Busy) as raised:
        busy.demand_few([calm, [True, True, True, *[False] * 5]])
    assert not raised.value.lasting


def test_who_ended_is_to_blame_only_if_nobody_works_any_more(watch: Watch) -> None:
    assert watch.stays_calm(taking(*[TURN_S] * 4, CALM_S), 0.02)
    assert not watch.stays_calm(taking(TURN_S), 0.02)
    assert not watch.stays_calm(taking(*[CALM_S] * 9, *[TURN_S] * 6, CALM_S), 0.02)  # somebody else, who rests at times
    assert not watch.stays_calm(taking(*[CALM_S] * 3, *[TURN_S, CALM_S, CALM_S] * 500), 0.02)  # in short bursts
    assert watch.stays_calm(taking(*[CALM_S] * 3, TURN_S, CALM_S), 0.05)  # a hiccup of the host


class Worker:
    """A GPU that is at work until the solution is ended, unless told otherwise; series end as told."""

    def __init__(self, watch: Watch, *series: Busy | None) -> None:
        self.watch, self.series = watch, list(series)
        self.ended_at: float | None = None
        self.while_alive, self.after = TURN_S, CALM_S

    def flush(self) -> float:
        return self.while_alive if self.ended_at is None else self.after

    def run(self) -> None:
        found = self.series.pop(0)
        if found:
            raise found

    def end(self) -> None:
        self.ended_at = time.monotonic()

    def examine(self) -> int:
        """How many series were given up."""
        peace = Peace(self.watch, self.flush, self.end)
        peace.measured(self.run)
        return peace.disturbed


def test_a_disturbed_series_is_measured_again(watch: Watch) -> None:
    assert Worker(watch, None).examine() == 0
    assert Worker(watch, Busy(lasting=False), None).examine() == 1
    over = Worker(watch, Busy(lasting=True), None)  # for long, but no more
    over.while_alive = CALM_S
    assert over.examine() == 1


def test_work_that_goes_on_until_the_solution_ends_is_its_own(watch: Watch) -> None:
    lasting = Worker(watch, Busy(lasting=True))
    with pytest.raises(Stopped, match="left work running"):
        lasting.examine()
    assert lasting.ended_at and busy.LEAST_S <= time.monotonic() - lasting.ended_at < busy.LONG_S


def test_work_that_comes_and_goes_is_looked_for_longer(watch: Watch) -> None:
    pausing = Worker(watch, Busy(lasting=False), Busy(lasting=False))
    with pytest.raises(Stopped, match="left work running"):
        pausing.examine()
    assert pausing.ended_at and time.monotonic() - pausing.ended_at >= busy.LONG_S


def test_work_that_goes_on_after_the_solution_is_somebody_elses(watch: Watch) -> None:
    others = Worker(watch, Busy(lasting=True))
    others.after = TURN_S
    with pytest.raises(MachineFault, match="other work"):
        others.examine()
