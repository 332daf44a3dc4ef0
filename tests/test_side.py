from __future__ import annotations

from kbench.referee.side import patience


def test_a_round_of_slow_calls_is_in_time_where_each_of_them_is() -> None:
    assert patience(20.0, 6.0, 4, 600.0) > 4 * 6.0
    assert patience(20.0, 0.001, 8, 600.0) < 21.0  # who hangs now is found out as soon as in a call
    assert patience(20.0, 19.0, 100, 600.0) == 600.0  # who was slow on purpose waits no longer than that
