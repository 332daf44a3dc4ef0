from __future__ import annotations

from collections.abc import Callable

import pytest
from kbench.referee import busy

CALM_S, TURN_S = 0.0001, 0.002


def taking(*seconds: float) -> Callable[[], float]:
    """A flush that takes these times, one after the other, and the last one from then on."""
    left = list(seconds)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_one_quick_flush_of_a_few_shows_that_nobody_works() -> None:
    assert not busy.look(taking(CALM_S), CALM_S)
    assert not busy.look(taking(TURN_S, TURN_S, 1.5 * CALM_S), CALM_S)  # the host was slow
    assert busy.look(taking(TURN_S), CALM_S)


@pytest.mark.parametrize(("at_work", "calm", "often"), [(0, 20, False), (5, 15, False), (6, 14, True), (3, 4, False)])
def test_what_medians_bear_is_not_too_often_nor_are_a_few_looks(at_work: int, calm: int, often: bool) -> None:
    assert busy.too_often([True] * at_work + [False] * calm) is often


def test_who_ended_is_to_blame_only_if_it_is_over_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy, "APART_S", 0.0)
    assert busy.calms_down(taking(*[TURN_S] * 12, CALM_S), CALM_S)
    assert not busy.calms_down(taking(CALM_S, *[TURN_S] * 30, CALM_S), CALM_S)  # somebody else, who rests at times
    monkeypatch.setattr(busy, "PATIENCE_S", 0.01)
    assert not busy.calms_down(taking(TURN_S), CALM_S)
