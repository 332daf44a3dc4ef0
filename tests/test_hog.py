from __future__ import annotations

import pytest
from kbench.referee import hog

GB = 2**30


@pytest.mark.parametrize(
    "held, others, right",
    [
        (120, 5, True),
        (70, 60, False),  # a problem that hardly fits twice
        (70, 34, True),
        (40, 1, False),  # a problem whose trials are large, and a solution that keeps a workspace
    ],
)
def test_who_holds_most_of_it_and_much_more_than_the_baseline(held: int, others: int, right: bool) -> None:
    assert hog.is_hog(held * GB, others * GB, 130 * GB) == right


def test_what_a_device_gives_back_late_counts_for_who_held_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hog, "APART_S", 0.0)
    free, late = [10], [30]

    def free_bytes() -> int:
        if late and free[0] > 10:
            free[0] = late.pop()
        return free[0]

    assert hog.freed(free_bytes, lambda: free.__setitem__(0, 15)) == 20
