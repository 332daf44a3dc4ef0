"""Measures what the README and the release notes say of a CPU.

python tests/measure/cpu.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from kbench.client import Referee
from kbench.settings import Settings

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
CASES = sorted((ROOT / "problems").rglob("*.py"))
CASES += [HERE / "fixtures" / f"{name}.py" for name in ("affine", "elementwise", "matmul", "large_relu")]


def renamed(problem: Path, folder: Path) -> Path:
    """The reference as a solution: the class has another name, nothing else is changed."""
    solution = folder / f"{problem.stem}_renamed.py"
    solution.write_text(problem.read_text().replace("class Model(", "class ModelNew("))
    return solution


def identity(referee: Referee, folder: Path) -> None:
    print("the reference against itself")
    holding = meeting = 0
    cases = [(case, "cpu") for case in CASES] + [(CASES[0], "odd")]
    for problem, workload in cases:
        result = referee.evaluate(problem, renamed(problem, folder), (workload,), Settings(device="cpu"))[0]
        low, high = result.speedup["eager"].ci95
        holding += low <= 1 <= high
        meeting += low <= 1.05 and high >= 0.95
        print(f"{problem.stem:48}{workload:>6} {result.verdict} [{low:.3f}, {high:.3f}]", flush=True)
    print(f"{holding} of {len(cases)} contain 1.00, {meeting} meet [0.95, 1.05]")


def sixty(referee: Referee, folder: Path) -> None:
    """What an evaluation takes beyond its timed work, through one warm referee."""
    beyond: list[tuple[float, str]] = []
    solutions = [(case, renamed(case, folder)) for case in CASES]
    for number in range(60):
        problem, solution = solutions[number % len(solutions)]
        began = time.monotonic()
        result = referee.evaluate(problem, solution, ("cpu",), Settings(device="cpu", budget_s=0.5))[0]
        seconds = time.monotonic() - began
        assert result.timing is not None, result.reason
        calls = result.timing.calls_per_round
        rounds = (*result.timing.samples_ms, *result.baselines["eager"].samples_ms)
        timed = sum(row[0] for row in rounds) * calls / 1e3
        beyond.append((seconds - timed, f"{problem.stem} {result.timing.rounds} rounds, {result.seconds}"))
    mean = sum(figure for figure, _ in beyond) / 60
    print(f"60 evaluations: beyond the timed work {min(beyond)[0]:.2f} to {max(beyond)[0]:.2f} s, mean {mean:.2f}")
    print("longest:", *(f"{figure:.2f} {name}" for figure, name in sorted(beyond)[-4:]), sep="\n  ")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name, Referee("cpu", root=str(ROOT)) as warm:
        warm.evaluate(CASES[0], CASES[0], ("cpu",), Settings(device="cpu", budget_s=0.1))
        identity(warm, Path(name))
        sixty(warm, Path(name))
