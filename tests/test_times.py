"""What becomes of rounds: one time a round, the interval of a speedup, what the device adds to it."""

from __future__ import annotations

import pytest
from kbench.referee.series import Rounds, Series
from kbench.referee.side import SOLUTION
from kbench.referee.size import Size
from kbench.referee.times import Times
from kbench.stats import PROCESS_TERM

CALLS, ROUNDS = 4, 20
NULL_S = 1e-4


def rounds(ms: float, claimed_ms: float | None = None) -> Rounds:
    """So long by the referee's clock, and by the side's own claim."""
    claim = ms if claimed_ms is None else claimed_ms
    return Rounds([ms * CALLS / 1e3 + NULL_S] * ROUNDS, [ms / 1e3 + NULL_S] * ROUNDS, [(claim,) * CALLS] * ROUNDS)


def times(kind: str, *solutions: Rounds, eager_ms: float = 2.0) -> Times:
    """One series for each of these, beside the same baseline."""
    found = Times(kind)
    for solution in solutions:
        sides = {SOLUTION: solution, "eager": rounds(eager_ms)}
        found.series.append(Series(sides, Size(CALLS, CALLS), "fresh", NULL_S, NULL_S))
    return found


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_the_speedup_is_the_ratio_of_rounds_and_its_interval_knows_of_processes(kind: str) -> None:
    found = times(kind, rounds(1.0)).speedups(waits=False)["eager"]
    assert found.value == pytest.approx(2.0, rel=1e-6)
    assert found.ci95 == pytest.approx((2 * (1 - PROCESS_TERM[kind]), 2 * (1 + PROCESS_TERM[kind])))


def test_on_a_cpu_what_a_side_claims_counts_for_nothing() -> None:
    found = times("cpu", rounds(1.0, claimed_ms=0.001))
    assert found.timing(0, waits=False).median_ms == pytest.approx(1.0)
    assert found.speedups(waits=False)["eager"].value == pytest.approx(2.0)


def test_on_a_gpu_a_claim_below_what_was_seen_counts_only_as_far_as_it_can_be_true() -> None:
    honest, short = times("cuda", rounds(1.0)), times("cuda", rounds(1.0, claimed_ms=0.2))
    assert short.attested(short.series[0], SOLUTION).status == "contradicted"
    assert honest.attested(honest.series[0], SOLUTION).status == "attested"
    assert short.timing(0, waits=False).median_ms > 0.9 * honest.timing(0, waits=False).median_ms


def test_waiting_for_the_host_widens_downwards_alone() -> None:
    """It is the worker's word: nobody shares a rank with faster ones by it."""
    busy, idle = (times("cuda", rounds(1.0)).speedups(waits)["eager"] for waits in (False, True))
    assert idle.ci95[0] < busy.ci95[0] and idle.ci95[1] == busy.ci95[1]


def test_several_processes_say_themselves_how_far_they_differ() -> None:
    alike, apart = times("cuda", rounds(1.0), rounds(1.0)), times("cuda", rounds(1.0), rounds(1.2))
    assert alike.timing(0, waits=True).process_term == 0.0
    assert apart.timing(0, waits=True).process_term == pytest.approx(0.1 / 1.1, rel=1e-6)
    assert apart.timing(0, waits=True).rounds == 2 * ROUNDS


def test_rounds_that_took_no_time_yield_no_infinite_speedup() -> None:
    found = times("cpu", rounds(-0.5)).speedups(waits=False)["eager"]
    assert 0 < found.value <= 2000.0
