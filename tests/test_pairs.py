"""The bundled pairs on the CPU, with their real builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT, Evaluate, quick
from kbench.client import Referee

PAIRS = sorted(path.relative_to(ROOT / "solutions").parent for path in (ROOT / "solutions").rglob("epilogue_cpp.py"))
HOST = sorted(
    path.relative_to(ROOT / "solutions").with_suffix("")
    for kind in ("cpp", "torch")
    for path in (ROOT / "solutions").rglob(f"*_{kind}.py")
)


def test_solutions_mirror_problems() -> None:
    problems = {path.relative_to(ROOT / "problems").with_suffix("") for path in (ROOT / "problems").rglob("*.py")}
    solved = {path.relative_to(ROOT / "solutions").parent for path in (ROOT / "solutions").rglob("*.py")}
    assert solved == problems
    cuda = {path.relative_to(ROOT / "solutions").parent for path in (ROOT / "solutions").rglob("epilogue_cuda.py")}
    assert cuda == set(PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_pair(pair: Path, evaluate: Evaluate) -> None:
    result = evaluate(f"{pair}/epilogue_cpp", str(pair))
    assert result.verdict == "passed", (result.reason, result.log)
    assert result.problem.workload == "cpu"
    assert result.solution.weights == "loaded"
    assert result.build is not None and result.build.path == "light"
    assert result.check is not None and result.check.truth == "float64"
    assert result.check.transforms == ("one", "sign", "scale")
    # The second time nothing is compiled.
    again = evaluate(f"{pair}/epilogue_cpp", str(pair))
    assert again.build is not None and again.build.cached and again.build.seconds < 1.0
    assert again.build.extensions[0].artifact == result.build.extensions[0].artifact


@pytest.mark.parametrize("solution", HOST, ids=str)
def test_every_solution_for_the_host(solution: Path, referee: Referee) -> None:
    settings = quick(budget_s=0.05)
    for workload in ("cpu", "odd"):
        (result,) = referee.evaluate(str(solution.parent), str(solution), (workload,), settings)
        assert result.verdict == "passed", (workload, result.reason, result.log)
