"""Prints what an evaluation takes on a GPU beside the timed work, stage by stage: python tests/measure/cost.py

To see what a change costs, run it with the package of both versions on the path.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from kbench.client import Referee
from kbench.records import Result
from kbench.settings import Settings

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
ROUNDS = 3


def pairs() -> list[tuple[str, str]]:
    bundled = sorted((ROOT / "solutions").rglob("epilogue_cuda.py"))
    found = [(str(path.parent.relative_to(ROOT / "solutions")), str(path)) for path in bundled]
    fixtures = [HERE / "fixtures" / f"{name}.py" for name in ("elementwise", "matmul", "softmax", "linear")]
    return found + [(str(path), str(path)) for path in fixtures]


def main() -> None:
    settings = Settings(device="cuda", budget_s=0.5)
    results: list[Result] = []
    with Referee("cuda", root=str(ROOT)) as referee:
        for turn in range(ROUNDS + 1):
            for problem, solution in pairs():
                found = referee.evaluate(problem, solution, (), settings)
                results += found if turn else []  # the first turn builds and loads libraries
    assert all(result.passed for result in results), [result.reason for result in results if not result.passed]
    total = [result.seconds["total"] for result in results]
    timed = [result.seconds.get("timed", 0.0) for result in results]
    print(
        f"{len(results)} evaluations: {statistics.fmean(total):.3f} s each, {statistics.fmean(timed):.3f} s of it timed"
    )
    for stage in ("load", "check", "time", "trace"):
        print(f"  {stage:6} {statistics.fmean(result.seconds.get(stage, 0.0) for result in results):.3f} s")


if __name__ == "__main__":
    main()
