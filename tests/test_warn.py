from __future__ import annotations

from kbench.records import Telemetry, Timing
from kbench.report import warn


def timing(interval: tuple[float, float], *samples: Telemetry) -> Timing:
    return Timing(
        median_ms=1.0,
        ci95_ms=interval,
        samples_ms=((1.0,),),
        rounds=1,
        calls_per_round=1,
        slots=2,
        stopped="tight",
        cache="",
        inputs="fresh",
        processes=1,
        process_term=0.01,
        telemetry=samples,
    )


def codes(of: Timing, foreign: list[int] | None = None) -> list[str]:
    return [one.code for one in warn.of_timing(of, foreign or [], None)]


def test_a_quiet_machine_is_not_warned_about() -> None:
    assert codes(timing((0.99, 1.01), Telemetry(sm_mhz=1980), Telemetry(sm_mhz=1965))) == []


def test_noise_sharing_throttling_and_clocks_are_named() -> None:
    samples = (Telemetry(sm_mhz=1980, throttle=("power cap",)), Telemetry(sm_mhz=1500))
    assert codes(timing((0.8, 1.2), *samples), [17]) == ["noisy", "shared", "throttled", "clocks"]


def test_every_warning_says_what_to_do_next() -> None:
    found = [*warn.of_jail({"landlock": "no"}), *warn.of_keeping("disk full"), *warn.of_keeping(None)]
    assert [one.code for one in found] == ["jail", "keep"]
    assert all(one.next for one in found)


def test_a_gpu_that_waits_for_its_host_is_named() -> None:
    (one,) = warn.of_waiting(0.84)
    assert one.code == "host" and "84%" in one.message and one.next
    assert not [*warn.of_waiting(None)]


def test_work_beside_rounds_is_named_and_a_single_hiccup_is_not() -> None:
    assert not list(warn.of_looks([True] + [False] * 39, 0)) and not list(warn.of_looks([True] + [False] * 9, 0))
    assert list(warn.of_looks([True] * 2 + [False] * 8, 0))
    (often,) = warn.of_looks([True] * 4 + [False] * 36, 0)
    (given_up,) = warn.of_looks([False] * 40, 1)
    assert often.code == given_up.code == "busy"
    assert "4 of 40 rounds" in often.message and "1 earlier series" in given_up.message
