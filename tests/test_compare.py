from __future__ import annotations

import pytest
from kbench.records import Result, Speedup
from kbench.report.compare import compare, judge
from made import CPU, TORCH, result
from msgspec import structs


@pytest.mark.parametrize(
    ("interval", "change"),
    [
        ((0.99, 1.01), "SAME"),
        ((0.98, 1.02), "SAME"),
        ((1.021, 1.05), "FASTER"),
        ((0.9, 0.979), "SLOWER"),
        ((0.97, 1.01), "UNCLEAR"),
        ((1.0, 1.03), "UNCLEAR"),
        ((0.5, 2.0), "UNCLEAR"),
    ],
)
def test_the_whole_interval_decides(interval: tuple[float, float], change: str) -> None:
    assert judge(Speedup(1.0, interval)) == change


def test_each_pair_by_name() -> None:
    before = [
        result(solution="same", spread=0.001),
        result(solution="faster", speedup=1.0, spread=0.001),
        result(solution="slower", speedup=2.0, spread=0.001),
        result(solution="unclear", spread=0.05),
        result(solution="fixed", verdict="wrong"),
        result(solution="broke"),
        result(solution="still", verdict="crashed"),
        result(solution="gone"),
    ]
    after = [
        result(solution="same", spread=0.001),
        result(solution="faster", speedup=2.0, spread=0.001),
        result(solution="slower", speedup=1.0, spread=0.001),
        result(solution="unclear", spread=0.05, speedup=1.01),
        result(solution="fixed"),
        result(solution="broke", verdict="timed_out"),
        result(solution="still", verdict="wrong"),
        result(solution="new"),
    ]
    found = compare(before, after)
    changes = {one.solution: one.change for one in found.pairs}
    assert changes == {
        "same": "SAME",
        "faster": "FASTER",
        "slower": "SLOWER",
        "unclear": "UNCLEAR",
        "fixed": "FIXED",
        "broke": "BROKE",
        "still": "SAME",
    }
    assert [name[3] for name in found.only_before] == ["gone"]
    assert [name[3] for name in found.only_after] == ["new"]
    assert found.is_worse
    (faster,) = [one for one in found.pairs if one.solution == "faster"]
    assert faster.ratio and faster.ratio.value == pytest.approx(2.0)


def test_the_interval_holds_what_differs_between_processes() -> None:
    one = result(spread=0.0)
    (found,) = compare([one], [structs.replace(one, seeds=(8,))]).pairs
    assert found.ratio and found.ratio.ci95[1] - 1 == pytest.approx(2**0.5 * 0.005, rel=0.01)
    assert found.change == "SAME"


def test_it_holds_more_between_two_gpus_of_one_name() -> None:
    one = result(spread=0.0)
    other = structs.replace(one, device=structs.replace(one.device, uuid="GPU-2"), seeds=(8,))
    (found,) = compare([one], [other]).pairs
    assert found.ratio and found.ratio.ci95[1] - 1 == pytest.approx((2 * 0.005**2 + 0.011**2) ** 0.5, rel=0.01)


def slower_machine(one: Result, factor: float) -> Result:
    assert one.timing
    timing = structs.replace(one.timing, median_ms=one.timing.median_ms * factor)
    low, high = one.timing.ci95_ms
    timing = structs.replace(timing, ci95_ms=(low * factor, high * factor))
    baseline = structs.replace(one.baselines["eager"], median_ms=one.baselines["eager"].median_ms * factor)
    return structs.replace(one, timing=timing, baselines={"eager": baseline}, seeds=(8,))


def test_a_slower_machine_is_no_slower_solution() -> None:
    one = result(spread=0.001, device=CPU)
    (found,) = compare([one], [slower_machine(one, 1.4)]).pairs
    assert found.change == "UNCLEAR" and found.ratio
    assert found.ratio.ci95[0] < 1 / 1.4 and found.ratio.ci95[1] > 1  # that it got faster is no more likely for it
    (back,) = compare([slower_machine(one, 1.4)], [one]).pairs
    assert back.change == "UNCLEAR" and back.ratio and back.ratio.ci95[0] < 1


@pytest.mark.parametrize(("noisy", "change"), [(False, "SLOWER"), (True, "UNCLEAR")])
def test_a_busy_host_explains_a_slower_gpu_only_where_times_vary(noisy: bool, change: str) -> None:
    one = result(spread=0.001, noisy=noisy)
    assert [pair.change for pair in compare([one], [slower_machine(one, 1.4)]).pairs] == [change]


def test_what_the_machine_cannot_explain_is_slower() -> None:
    one = result(spread=0.001, device=CPU)
    (found,) = compare([one], [structs.replace(slower_machine(one, 1.4), baselines=one.baselines)]).pairs
    assert found.change == "SLOWER"


def test_a_baseline_of_another_environment_says_nothing_about_the_machine() -> None:
    one = result(spread=0.001, device=CPU)
    other = structs.replace(slower_machine(one, 1.4), environment=structs.replace(TORCH, torch="2.12.0"))
    assert [pair.change for pair in compare([one], [other]).pairs] == ["SLOWER"]


def test_a_run_is_the_same_as_itself() -> None:
    noisy = [result(spread=0.3)]
    assert [one.change for one in compare(noisy, noisy).pairs] == ["SAME"]


def test_other_devices_are_other_pairs() -> None:
    found = compare([result()], [result(device=CPU)])
    assert not found.pairs and len(found.only_before) == len(found.only_after) == 1
    assert not found.is_worse
