"""What a worker's trace says, through a referee: shares are asked of problems that name a bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import HERE, HONEST, Evaluate
from kbench.worker.trace import undisturbed

OWN_KERNEL = HERE / "fixtures" / "own_kernel.py"


@pytest.mark.parametrize(
    ("times", "passes", "expected"),
    [
        ([900.0, 5.0, 4.0, 7.0], 4, 4.0),
        ([900.0, 1.0, 5.0, 2.0, 4.0, 2.0], 3, 6.0),
        ([6.0, 2.0, 4.0], 2, 6.0),  # one of them called it once more
        ([3.0, 4.0], 1, 7.0),
    ],
)
def test_the_shortest_pass_counts(times: list[float], passes: int, expected: float) -> None:
    assert undisturbed(times, passes) == expected


def test_functions_of_an_extension_and_of_torch_are_told_apart(evaluate: Evaluate) -> None:
    result = evaluate(HONEST / "kernel_with_a_library_part.py", OWN_KERNEL)
    assert result.evidence
    told = {ran.name: ran for ran in result.evidence.ran}
    assert told["forward"].origin == "own" and told["aten::addmm"].origin == "library"
    assert 0.2 < result.evidence.own_share < 1
    assert sum(ran.share for ran in result.evidence.ran) == pytest.approx(1, abs=0.05)


def test_the_share_that_a_problem_asks_for(evaluate: Evaluate, tmp_path: Path) -> None:
    problem = tmp_path / "most.py"
    problem.write_text(OWN_KERNEL.read_text().replace("custom_kernel=True", "custom_kernel=0.95"))
    result = evaluate(HONEST / "kernel_with_a_library_part.py", problem)
    assert result.verdict == "wrong" and result.reason and "the problem asks for 95%" in result.reason
    assert evaluate(HONEST / "kernels_of_its_own.py", problem).verdict == "passed"


def test_nothing_is_said_in_the_log_of_the_solution(evaluate: Evaluate) -> None:
    assert evaluate(HONEST / "reused_output.py").log == ""


THREADED = """
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(1)
pool.submit(int).result()


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        def work():
            with torch.no_grad():
                return CALL

        with torch.profiler.record_function("own::forward"):
            return pool.submit(work).result()
"""
HEAD = "import torch\nfrom torch import nn\n"


def test_another_thread_and_a_made_up_span_are_no_kernel(evaluate: Evaluate, tmp_path: Path) -> None:
    solution = tmp_path / "threaded.py"
    solution.write_text(HEAD + THREADED.replace("CALL", "torch.relu(x @ self.weight + self.bias)"))
    result = evaluate(solution, OWN_KERNEL)
    assert result.verdict == "wrong" and result.reason and result.reason.startswith("policy: 0% ")


@pytest.mark.parametrize(
    "call",
    [
        "pool.submit(extension.forward, x, self.weight, self.bias).result()",
        "list(map(extension.forward, [x], [self.weight], [self.bias]))[0]",
    ],
)
def test_a_kernel_that_is_called_in_a_strange_way_is_its_own(evaluate: Evaluate, tmp_path: Path, call: str) -> None:
    text = (HONEST / "kernels_of_its_own.py").read_text()
    pool = (
        "from concurrent.futures import ThreadPoolExecutor\n\npool = ThreadPoolExecutor(1)\npool.submit(int).result()\n"
    )
    solution = tmp_path / "strange.py"
    changed = text.replace("extension.forward(x, self.weight, self.bias)", call)
    solution.write_text(changed.replace("\n\nclass ModelNew", f"\n{pool}\n\nclass ModelNew"))
    assert evaluate(solution, OWN_KERNEL).verdict == "passed"


def test_a_profiler_of_its_own_is_no_fault(evaluate: Evaluate, tmp_path: Path) -> None:
    text = (HONEST / "reused_output.py").read_text()
    solution = tmp_path / "profiled.py"
    body = """    def forward(self, x):
        with torch.profiler.profile():
            return self.work(x)

    def work(self, x):"""
    solution.write_text(text.replace("    def forward(self, x):", body))
    assert evaluate(solution).verdict == "passed"


def test_a_trace_that_takes_too_long_is_no_verdict(evaluate: Evaluate, tmp_path: Path) -> None:
    text = (HONEST / "reused_output.py").read_text()
    solution = tmp_path / "slow.py"
    body = """    def forward(self, x):
        if sys.getprofile():
            time.sleep(9)
        return self.work(x)

    def work(self, x):"""
    solution.write_text("import sys\nimport time\n\n" + text.replace("    def forward(self, x):", body))
    result = evaluate(solution, timeouts={"first-call": 3.0})
    assert result.verdict == "passed" and result.evidence is None
