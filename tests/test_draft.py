"""What an evaluation has found, and the verdict that comes of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kbench.records import Evidence, Ran
from kbench.referee.draft import Draft
from kbench.referee.series import Rounds, Series
from kbench.referee.side import SOLUTION
from kbench.referee.size import Size

CALLS, ROUNDS = 4, 10
SINGLE_S = 0.0002


def draft(claimed_ms: float, seen_ms: float, idle_ms: float, traced_ms: float) -> Draft:
    """A solution for a problem that asks for kernels of its own, as it stands when it was timed and traced."""
    nothing = SimpleNamespace()
    made = Draft(SimpleNamespace(kind="cuda"), nothing, nothing, "", nothing, nothing, nothing)  # type: ignore[arg-type]
    made.custom_kernel = True
    rounds = Rounds(
        walls_s=[(seen_ms * CALLS + idle_ms) / 1e3] * ROUNDS,
        singles_s=[SINGLE_S] * ROUNDS,
        claims_ms=[(claimed_ms,) * CALLS] * ROUNDS,
    )
    size = Size(CALLS, CALLS)
    made.times.series = [Series({SOLUTION: rounds}, size, "fresh", null_batch_s=idle_ms / 1e3, flush_s=4e-5)]
    ran = (Ran("product", "own", 1, traced_ms, 1.0),)
    made.evidence = Evidence(own_share=1.0, ms=traced_ms, ran=ran)
    return made


def test_a_traced_call_that_takes_far_longer_than_the_timed_ones_is_another_call() -> None:
    assert draft(0.105, 0.105, 0.1, 0.105).ruling().verdict == "passed"
    found = draft(0.027, 0.027, 0.1, 0.105).ruling()
    assert found.verdict == "wrong" and found.reason.startswith("policy: the traced call")


@pytest.mark.parametrize("too_much_ms", [0.3, 0.4])
def test_rounds_without_work_that_were_slow_make_no_call_look_short(too_much_ms: float) -> None:
    """Then less is left of the referee's own figure; what the solution claims, and is judged by, stays."""
    found = draft(0.105, 0.105, 0.1, 0.105)
    found.times.series[0].null_batch_s += too_much_ms / 1e3
    assert found.times.seen_ms() < 0.04
    assert found.ruling().verdict == "passed"
