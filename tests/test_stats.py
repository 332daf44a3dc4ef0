from __future__ import annotations

import random

import pytest
from kbench import stats
from kbench.stats import Estimate, StopRule


def test_bootstrap_holds_the_median_and_narrows_with_more_samples() -> None:
    draw = random.Random(1)
    few = stats.bootstrap([draw.gauss(10, 1) for _ in range(10)])
    many = stats.bootstrap([draw.gauss(10, 1) for _ in range(400)])
    assert few.low <= few.value <= few.high
    assert many.relative_half_width < few.relative_half_width
    assert many.low < 10 < many.high


def test_bootstrap_covers_as_often_as_it_says() -> None:
    draw = random.Random(7)
    hits = 0
    for _ in range(100):
        estimate = stats.bootstrap([draw.gauss(0, 1) + 10 for _ in range(40)])
        hits += estimate.low <= 10 <= estimate.high
    assert hits >= 88


def test_one_sample_has_no_width() -> None:
    assert stats.bootstrap([3.0]) == Estimate(3.0, 3.0, 3.0)


def test_paired_speedup_cancels_a_drift_that_both_sides_share() -> None:
    drift = [1.0 + 0.5 * number for number in range(20)]
    speedup = stats.paired_speedup([2 * d for d in drift], drift)
    assert speedup == Estimate(2.0, 2.0, 2.0)


def test_paired_speedup_refuses_unequal_lengths() -> None:
    with pytest.raises(ValueError, match="zip"):
        stats.paired_speedup([1.0, 2.0], [1.0])


def test_widening_adds_in_quadrature() -> None:
    wide = Estimate(1.0, 0.97, 1.04).widened(0.04, 0.04)
    assert wide.low == pytest.approx(0.95)
    assert wide.high == pytest.approx(1.0 + (0.04**2 + 0.04**2) ** 0.5)
    assert Estimate(1.0, 0.97, 1.04).widened(0.4, 0.0).high == 1.04


def test_process_spread_needs_two_processes() -> None:
    assert stats.process_spread([1.0]) is None
    assert stats.process_spread([1.0, 1.0]) == 0.0


def test_stop_rule() -> None:
    rule = StopRule(budget_s=2.0, target=0.01, min_pairs=10, max_pairs=50, min_calls=40)
    steady, noisy = [1.0] * 10, [1.0, 2.0] * 5  # looked at with ten pairs and every five
    assert rule.verdict(steady, 0.1, 400) == "tight"
    assert rule.verdict(noisy, 0.1, 400) is None
    assert rule.verdict(noisy, 2.0, 400) == "budget"
    assert rule.verdict(noisy * 5, 0.1, 400) == "rounds"


def test_stop_rule_never_ends_before_enough_calls_were_checked() -> None:
    warming = [1.2, 1.15, 1.1, 1.05, 1.02, *[1.0] * 5]
    assert StopRule(2.0, 0.01, own_target=0.005, min_pairs=10).verdict([1.0] * 10, 0.1, 400, warming) is None
    assert StopRule(2.0, 0.01, own_target=0.005, min_pairs=10).verdict([1.0] * 10, 0.1, 400, [1.0] * 10) == "tight"
    rule = StopRule(budget_s=2.0, target=0.01)
    assert rule.verdict([1.0] * 10, 99.0, 39) is None
    assert rule.verdict([1.0] * 9, 99.0, 400) is None


def test_few_samples_span_their_extremes() -> None:
    assert stats.bootstrap([1.0, 2.0, 3.0, 9.0, 4.0, 5.0]) == Estimate(3.5, 1.0, 9.0)


def test_a_few_disturbed_samples_do_not_move_what_was_undisturbed() -> None:
    assert stats.undisturbed([0.6]) == 0.6
    assert stats.undisturbed([6.6, 1.1, 6.3, 0.99, 6.2, 0.8]) == 0.99
    assert stats.undisturbed([0.5] * 5 + [30.0] * 10) == 0.5


def test_what_is_no_number_is_not_tight() -> None:
    assert StopRule(2.0, 0.01, min_pairs=10).verdict([float("inf")] * 10, 0.1, 400) is None


def test_what_an_idle_round_costs_is_between_its_two_kinds_on_a_gpu_and_the_least_on_a_cpu() -> None:
    others, own = [0.0016, 0.0015, 0.009], [0.0010, 0.0011]
    assert stats.idle_round("cuda", others, own) == pytest.approx((0.0015 + 0.0010) / 2)
    assert stats.idle_round("cuda", others, []) == 0.0015
    assert stats.idle_round("cpu", others, own) == 0.0010
    assert stats.idle_round("cpu", [0.002], []) == 0.002
