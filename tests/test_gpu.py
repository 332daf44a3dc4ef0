"""Everything that only a GPU can show. Run with `pytest -m gpu`."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trust
from conftest import BROKEN, CHEATS, HERE, ROOT, quick
from kbench.client import Referee
from kbench.records import Result
from kbench.settings import Settings

pytestmark = pytest.mark.gpu

PAIRS = sorted(path.relative_to(ROOT / "solutions").parent for path in (ROOT / "solutions").rglob("epilogue_cuda.py"))
# What ends a worker or asks for a place on the host does so on any device: these are the ones that compute.
SHARED = sorted(path for path in (BROKEN / "solutions").glob("*.py") if path.name.startswith(("wrong", "crashed")))
SHARED += [
    CHEATS / f"{name}.py"
    for name in (
        "crashed__kills_everything",
        "wrong__cached_by_pointer",
        "wrong__changes_inputs",
        "wrong__half_inside",
        "wrong__ignores_weights",
        "wrong__nan",
        "wrong__only_right_when_checked",
        "wrong__positive_only",
        "wrong__proxy",
        "wrong__returns_the_first_output",
        "wrong__works_after_the_answer",
        "wrong__zeros",
    )
]
PATIENCE = {"load": 30.0, "first-call": 15.0, "call": 10.0}


@pytest.fixture(scope="module")
def cuda() -> Iterator[Referee]:
    with Referee("cuda", root=str(ROOT)) as warm:
        yield warm


def run(
    cuda: Referee, problem: Path | str, solution: Path | str, workload: str = "default", **changes: object
) -> Result:
    settings = quick(device="cuda", timeouts=PATIENCE, **changes)
    return cuda.evaluate(problem, solution, (workload,), settings)[0]


def test_who_shares_memory_first_reaches_nobody_elses() -> None:
    """The first solution of the first referee here: no worker of another one has shared anything yet."""
    shares = CHEATS / "gpu" / "harmless__opens_memory_by_its_number.py"
    with Referee("cuda", root=str(ROOT)) as fresh:
        result = run(fresh, HERE / "fixtures" / "matmul.py", shares, "2048")
    assert result.verdict == "passed", (result.verdict, result.reason)


def test_a_large_input_takes_ten_seconds_at_most() -> None:
    """Before there is a second referee here, whose arena would leave it too little."""
    problem = HERE / "fixtures" / "large_relu.py"
    began = time.monotonic()
    with Referee("cuda") as fresh:
        result = fresh.evaluate(problem, problem, ("default",), Settings(device="cuda", trials=5), more=False)[0]
    seconds = time.monotonic() - began
    assert result.verdict == "passed", result.reason
    assert seconds <= 10.0


@pytest.fixture(scope="module")
def built() -> None:
    """All CUDA solutions, built side by side: one after the other they take minutes."""
    commands = [
        [sys.executable, "-m", "kbench.cli.main", "eval", str(pair), f"{pair}/epilogue_cuda", "--device", "cuda"]
        for pair in PAIRS
    ]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait(400) for process in running] == [0] * len(running)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_pair(pair: Path, cuda: Referee, built: None) -> None:
    result = run(cuda, str(pair), f"{pair}/epilogue_cuda", budget_s=1.0)
    assert result.verdict == "passed", result.reason
    assert result.attestation is not None and result.attestation.status == "attested"
    assert result.build is not None and result.build.cached
    assert result.solution.weights == "loaded"


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_pair_at_odd_shapes(pair: Path, cuda: Referee, built: None) -> None:
    assert run(cuda, str(pair), f"{pair}/epilogue_cuda", "odd").verdict == "passed"


@pytest.mark.parametrize("path", sorted((BROKEN / "gpu").glob("*.py")), ids=lambda path: path.stem)
def test_broken_on_a_gpu(path: Path, cuda: Referee) -> None:
    result = run(cuda, HERE / "fixtures" / "matmul.py", path, "2048", budget_s=0.5)
    assert result.verdict == trust.read(path).expected, (result.reason, result.attestation, result.log[-2000:])


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.stem)
def test_broken_solution(path: Path, cuda: Referee) -> None:
    result = run(cuda, HERE / "fixtures" / "affine.py", path)
    assert result.verdict == path.stem.split("__")[0], (result.reason, result.log[-2000:])


HOG = """
import torch

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        free, _ = torch.cuda.mem_get_info()
        self.held = torch.empty(free - 2**30, dtype=torch.uint8, device="cuda")

    def forward(self, x):
        return x @ x
"""


def test_who_takes_all_memory_before_the_first_call_is_told_so(cuda: Referee, tmp_path: Path) -> None:
    """The arena then does not fit, which otherwise is the problem's fault."""
    (tmp_path / "hog.py").write_text(HOG)
    result = run(cuda, HERE / "fixtures" / "matmul.py", tmp_path / "hog.py", "2048")
    assert result.verdict == "out_of_memory", (result.verdict, result.reason)
    assert result.reason and result.reason.startswith("it held 1")
    honest = CHEATS.parent / "honest" / "gpu" / "cuda_graph.py"
    assert run(cuda, HERE / "fixtures" / "matmul.py", honest, "2048").verdict == "passed"


ROOMY = """
import torch

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        free, whole = torch.cuda.mem_get_info()
        if free < whole / 2:
            raise MemoryError(f"{free} of {whole} bytes are free")

    def forward(self, x):
        return x @ x
"""


def test_who_comes_right_after_a_hog_finds_its_memory_free(cuda: Referee, tmp_path: Path) -> None:
    (tmp_path / "roomy.py").write_text(ROOMY)
    hog, problem = BROKEN / "gpu" / "out_of_memory__device.py", HERE / "fixtures" / "matmul.py"
    assert run(cuda, problem, hog, "2048").verdict == "out_of_memory"
    result = run(cuda, problem, tmp_path / "roomy.py", "2048")
    assert result.verdict == "passed", (result.verdict, result.reason)


def test_claims_agree_with_the_referees_clock(cuda: Referee) -> None:
    """Honest work is never contradicted, from five microseconds to five milliseconds."""
    told = []
    for name, workloads in (("elementwise", ("4KB", "4MB", "64MB", "512MB")), ("matmul", ("512", "1024", "4096"))):
        problem = HERE / "fixtures" / f"{name}.py"
        told += [run(cuda, problem, problem, workload, budget_s=0.5) for workload in workloads]
    for result in told:
        assert result.verdict == "passed", result.reason
        assert result.attestation is not None and result.attestation.status in ("attested", "loose")
    assert told[-1].attestation is not None and told[-1].attestation.status == "attested"


def test_two_at_once_take_turns() -> None:
    """The second waits for the lease and says so; neither is disturbed."""
    problem = HERE / "fixtures" / "matmul.py"
    stages: list[list[str]] = [[], []]
    verdicts: list[str] = []

    def evaluate(number: int) -> None:
        with Referee("cuda") as own:
            entered = stages[number].append
            settings = quick(device="cuda", budget_s=1.0)
            results = own.evaluate(problem, problem, ("2048",), settings, watch=lambda e: entered(e.stage), more=False)
            verdicts.append(results[0].verdict)

    threads = [threading.Thread(target=evaluate, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert verdicts == ["passed", "passed"]
    assert "lease" in stages[0] + stages[1]
