"""The bundled problems and solutions as a whole, and what was measured of them."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from pathlib import Path

import collection
import pytest
from conftest import ROOT
from kbench import problem
from kbench.report.standing import baselines
from kbench.sweep.store import read

PROBLEMS = sorted((ROOT / "problems").glob("*/*.py"))
SOLUTIONS = sorted((ROOT / "solutions").glob("*/*/*.py"))
FEWEST = {"single": 20, "fusion": 16, "block": 8, "training": 6}
FASTER = {"eager": 25, "compile": 12}


def test_there_are_enough_of_each_family() -> None:
    families = Counter(path.parent.name for path in PROBLEMS)
    assert families.keys() == FEWEST.keys() and all(families[name] >= count for name, count in FEWEST.items())
    assert len(PROBLEMS) >= 48 and len(SOLUTIONS) >= 80
    kinds = Counter(path.stem.split("_")[-1] for path in SOLUTIONS)
    assert kinds.keys() == {"torch", "cpp", "cuda", "triton"}


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_problem_has_workloads_for_both_devices_and_one_odd_shape(path: Path) -> None:
    assert {"default", "cpu", "odd"} <= set(problem.outline(problem.read(path, path.stem)).workloads)


@pytest.mark.parametrize("page", collection.PAGES)
def test_the_pages_show_what_was_measured(page: str) -> None:
    text = collection.PAGES[page].read_text()
    assert collection.written(page, text) == text, "run python tests/collection.py"


def test_everything_measured_passed() -> None:
    found = read(collection.RESULTS)
    assert {one.verdict for one in found} == {"passed"}
    assert {one.problem.id for one in found} == {f"{path.parent.name}/{path.stem}" for path in PROBLEMS}
    assert baselines(found) == ["eager", "compile"]


def test_what_was_measured_is_what_lies_here() -> None:
    for one in read(collection.RESULTS):
        for part, place in ((one.problem, "problems"), (one.solution, "solutions")):
            text = (ROOT / place / f"{part.id}.py").read_bytes()
            assert part.sha256 == hashlib.sha256(text).hexdigest(), f"{place}/{part.id} has changed: measure it again"


@pytest.mark.parametrize("name", FASTER)
def test_many_problems_have_a_solution_that_is_surely_faster(name: str) -> None:
    gained = {
        one.problem.id for one in read(collection.RESULTS) if name in one.speedup and one.speedup[name].ci95[0] > 1
    }
    assert len(gained) >= FASTER[name]


@pytest.mark.parametrize("story", collection.SERIES)
def test_each_step_of_a_story_is_surely_faster_than_the_last(story: str) -> None:
    found = {one.solution.id: one.timing for one in read(collection.RESULTS)}
    steps = [found[f"{story}/{step}"] for step in collection.SERIES[story]]
    assert len(steps) >= 4
    for before, after in itertools.pairwise(steps):
        assert before and after and after.ci95_ms[1] < before.ci95_ms[0]
