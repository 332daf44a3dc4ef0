from __future__ import annotations

import pytest
from kbench.sweep.estimate import BESIDE_S, Pace
from made import pair, result
from msgspec import structs


def test_pairs_of_the_same_case_say_most_then_all_then_the_budget() -> None:
    pace = Pace()
    assert pace.seconds(pair("p")) == 2.0 + BESIDE_S
    for problem, seconds in (("p", 4.0), ("p", 6.0), ("q", 1.0)):
        one = result(problem=problem)
        assert one.run
        pace.note(structs.replace(one, run=structs.replace(one.run, held_s=seconds)))
    assert pace.seconds(pair("p")) == 5.0
    assert pace.seconds(pair("r")) == pytest.approx(11 / 3)
    assert pace.seconds(pair("p", device="cpu")) == 3.0


def test_devices_share_the_work_of_their_kind() -> None:
    todo = [pair("p", str(number)) for number in range(8)] + [pair("p", device="cpu")]
    assert Pace().left(todo, {"cuda": 2, "cpu": 1}) == 12.0
    assert Pace().left([], {}) == 0.0
