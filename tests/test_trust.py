"""Nothing that cheats passes, nothing honest fails. Once here, KBENCH_TRUST_ROUNDS times with `make trust`."""

from __future__ import annotations

import itertools
import os
import typing
from collections.abc import Callable, Iterator
from pathlib import Path

import matrix
import pytest
import trust
from conftest import HONEST as HONEST_FILES
from conftest import ROOT, quick
from kbench.client import Referee
from kbench.records import Result, Speedup, Verdict
from trust import Case

VERDICTS = typing.get_args(Verdict)
ROUNDS = int(os.environ.get("KBENCH_TRUST_ROUNDS", "1"))
GPU_PATIENCE = {"load": 30.0, "first-call": 60.0, "call": 10.0}
# What waits for a limit of ours takes as long as that limit.
SLOW = ("timed_out__", "out_of_memory__", "crashed__fork_bomb", "crashed__fills_the_disk", "harmless__floods_its_log")
# And what a compiler that runs in the solution's own calls is at, or processes that it starts and waits for.
SLOW_CALLS = (
    "wrong__generated_kernels",
    "compiled_inside",
    "traced_by_dynamo",
    "triton_autotune",
    "wrong__another_gpu",
    "harmless__works_on_the_cpu",
)
WRITES_GIGABYTES = ("crashed__fills_the_disk", "out_of_memory__bytes")  # 2.5 s each where a host gives pages slowly
MOST_BESIDE_S, TRIES = 1.5, 3
POLICY = {73, 74, 75, 77, 78, 80}
LONGER_S = 0.3
CHEATS, HONEST = trust.cheats(), trust.honest()


@pytest.fixture(scope="module")
def warm() -> Iterator[Referee]:
    with Referee("cpu", root=str(ROOT)) as referee:
        yield referee


@pytest.fixture(scope="module")
def warm_gpu() -> Iterator[Referee]:
    with Referee("cuda", root=str(ROOT)) as referee:
        first = trust.read(HONEST_FILES / "gpu" / "cuda_graph.py")
        for _ in range(2):  # the first loads the libraries, the second waits for workers that were started meanwhile
            assert evaluate(referee, first, first.path).verdict == "passed"
        yield referee


def evaluate(referee: Referee, case: Case, solution: Path, **changes: object) -> Result:
    patience = GPU_PATIENCE if case.gpu else trust.PATIENCE
    patience = patience | ({"first-call": 60.0} if case.name in WRITES_GIGABYTES else {})
    changes = {"budget_s": 0.3, **changes} if case.gpu else changes
    settings = quick(device=referee.device, timeouts=patience, **changes)
    return referee.evaluate(case.problem, solution, case.workloads, settings)[0]


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("case", CHEATS, ids=lambda case: case.name)
def test_cheat(case: Case, turn: int, warm: Referee, tmp_path: Path) -> None:
    solution = case.placed(tmp_path)
    result = evaluate(warm, case, solution)
    assert result.verdict == case.verdict, (result.verdict, result.reason, result.log)
    if set(case.rows) & POLICY:
        assert result.reason and result.reason.startswith("policy:"), result.reason
    mismatch = result.check.mismatch if result.check else None
    assert (case.because or "") in f"{result.reason} in {mismatch.trial if mismatch else None}"
    if case.expected == "harmless":
        # Twenty rounds of a dozen intervals meet chance: what gains something gains it every time.
        gains = list(itertools.takewhile(bool, (gain(warm, case, solution) for _ in range(3))))
        assert len(gains) < 3, gains
    if not case.name.startswith((*SLOW, *SLOW_CALLS)):
        demand_quick(result, lambda: evaluate(warm, case, solution))


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
def test_honest(case: Case, turn: int, warm: Referee) -> None:
    result = evaluate(warm, case, case.path)
    assert result.verdict == "passed", (result.verdict, result.reason, result.log)
    if case.name not in SLOW_CALLS:
        demand_quick(result, lambda: evaluate(warm, case, case.path))


@pytest.mark.gpu
@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("case", trust.cheats(gpu=True), ids=lambda case: case.name)
def test_cheat_on_a_gpu(case: Case, turn: int, warm_gpu: Referee, tmp_path: Path) -> None:
    test_cheat(case, turn, warm_gpu, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("case", trust.honest(gpu=True), ids=lambda case: case.name)
def test_honest_on_a_gpu(case: Case, turn: int, warm_gpu: Referee) -> None:
    test_honest(case, turn, warm_gpu)


def demand_quick(result: Result, again: Callable[[], Result]) -> None:
    """Beside a process that works for some seconds all takes longer; what a case itself costs, it costs every time."""
    found = [result]
    while beside_s(found[-1]) >= MOST_BESIDE_S:
        assert len(found) < TRIES, [one.seconds for one in found]
        found.append(again())


def beside_s(result: Result) -> float:
    """What it took beside the timed work and compilers, whose work is kept."""
    return result.seconds["total"] - result.seconds.get("timed", 0.0) - (result.build.seconds if result.build else 0.0)


def gain(warm: Referee, case: Case, solution: Path) -> tuple[Speedup, Speedup] | None:
    """The speedups of a cheat and of its twin or the reference, where the whole interval of the cheat lies higher."""
    mine = evaluate(warm, case, solution, budget_s=LONGER_S).speedup["eager"]
    other, entry = (case.twin, None) if case.twin else (case.problem, "Model")
    twin = evaluate(warm, case, other, entry=entry, budget_s=LONGER_S).speedup["eager"]
    return (mine, twin) if mine.ci95[0] > twin.ci95[1] else None


def test_every_file_says_what_it_is() -> None:
    for case in (*CHEATS, *HONEST, *trust.cheats(gpu=True), *trust.honest(gpu=True)):
        assert case.rows and case.story and case.problem.exists(), case.path
        assert set(case.rows) <= set(matrix.ROWS), case.path
        assert case.expected in ("harmless", "passed", *VERDICTS), case.path


def test_each_says_why_it_fails() -> None:
    """The verdict alone may come from a mistake in the file."""
    every = (*CHEATS, *trust.cheats(gpu=True))
    assert [case.name for case in every if case.expected != "harmless" and not case.because] == []


def test_at_least_so_many() -> None:
    assert len({row for case in (*CHEATS, *trust.cheats(gpu=True)) for row in case.rows}) >= 55
    assert len(HONEST) >= 20


def test_the_page_on_security_lists_them_all() -> None:
    text = matrix.SECURITY.read_text()
    assert matrix.written(text) == text, "run python tests/matrix.py"
