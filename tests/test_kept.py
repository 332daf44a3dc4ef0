"""Compiled baselines that are measured once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from kbench.records import BaselineTiming, Result, Speedup
from kbench.sweep.kept import Shelf, against, of_result, quotient
from made import H200, TORCH, pair, result
from msgspec import structs


def measured(eager: float = 1.0, compiled: float = 0.5) -> Result:
    """The problem as its own solution: as fast as eager, half as fast as the compiled form."""
    speedup = {"eager": Speedup(eager, (0.99, 1.01)), "compile": Speedup(compiled, (0.495, 0.505))}
    timings = {"eager": BaselineTiming(2.0, (1.9, 2.1)), "compile": BaselineTiming(1.0, (0.9, 1.1), ((1.0,),))}
    return structs.replace(result(), speedup=speedup, baselines=timings, seconds={"total": 12.5})


def test_a_speedup_over_the_compiled_one_goes_by_way_of_eager() -> None:
    kept = of_result(measured(), "compile", pair())
    assert kept.over_eager and kept.over_eager.value == pytest.approx(2.0)
    told = against(result(speedup=3.0), kept)
    assert told.speedup["compile"].value == pytest.approx(1.5)
    low, high = told.speedup["compile"].ci95
    assert low < 1.5 * (1 - 0.02) and high > 1.5 * (1 + 0.02)  # wider than either
    assert told.baselines["compile"].cost_s == 12.5
    assert told.baselines["compile"].kept == "2026-01-01T00:00:00.000000Z"
    assert told.speedup["eager"].value == 3.0


def test_a_quotient_of_something_by_itself_contains_one() -> None:
    one = quotient(Speedup(2.0, (1.9, 2.2)), Speedup(2.0, (1.9, 2.2)))
    assert one.value == 1.0 and one.ci95[0] < 1 < one.ci95[1]
    assert quotient(Speedup(2.0, (-0.1, 2.2)), Speedup(1.0, (0.9, 1.1))).ci95[0] == 0.0


def test_without_one_the_result_says_why() -> None:
    kept = of_result(result(verdict="unsupported"), "compile", pair())
    told = against(result(), kept)
    assert "compile" not in told.speedup
    assert [warning.code for warning in told.warnings] == ["baseline"]
    assert "unsupported" in told.warnings[0].message


def test_two_devices_that_need_the_same_measure_it_once(tmp_path: Path) -> None:
    shelf, calls = Shelf(tmp_path), Counter[str]()

    def measure(name: str) -> Result:
        calls[name] += 1
        time.sleep(0.05)
        return measured()

    threads = [threading.Thread(target=shelf.get, args=(pair(), "compile", (H200, TORCH), measure)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls["compile"] == 1


def test_it_is_kept_for_the_same_problem_workload_device_and_environment_only(tmp_path: Path) -> None:
    calls: list[str] = []

    def measure(name: str) -> Result:
        calls.append(name)
        return measured()

    place = (H200, TORCH)
    for of, name, where in (
        (pair(), "compile", place),
        (pair(solution="t"), "compile", place),
        (pair(), "compile", (structs.replace(H200, index=3), TORCH)),
    ):
        Shelf(tmp_path).get(of, name, where, measure)
    assert len(calls) == 1
    for of, name, where in (
        (pair(workload="odd"), "compile", place),
        (structs.replace(pair(), problem_sha256="x"), "compile", place),
        (pair(), "compile", (structs.replace(H200, name="A100"), TORCH)),
        (pair(), "compile", (H200, structs.replace(TORCH, torch="3"))),
    ):
        Shelf(tmp_path).get(of, name, where, measure)
    assert len(calls) == 5
    Shelf(tmp_path, afresh=True).get(pair(), "compile", place, measure)
    assert len(calls) == 6


def test_a_failure_is_tried_again_in_the_next_run(tmp_path: Path) -> None:
    failed = lambda name: result(verdict="unsupported")  # noqa: E731
    shelf = Shelf(tmp_path)
    assert shelf.get(pair(), "compile", (H200, TORCH), failed).timing is None
    assert shelf.get(pair(), "compile", (H200, TORCH), lambda name: measured()).timing is None
    assert Shelf(tmp_path).get(pair(), "compile", (H200, TORCH), lambda name: measured()).timing


def test_a_damaged_file_is_measured_again(tmp_path: Path) -> None:
    Shelf(tmp_path).get(pair(), "compile", (H200, TORCH), lambda name: measured())
    (file,) = tmp_path.iterdir()
    file.write_text("{")
    assert Shelf(tmp_path).get(pair(), "compile", (H200, TORCH), lambda name: measured()).timing
