"""Shared by all tests: one warm referee on the CPU, and quick settings."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kbench.client import Referee
from kbench.records import Result
from kbench.settings import Settings

HERE = Path(__file__).parent
ROOT = HERE.parent
AFFINE = HERE / "fixtures" / "affine.py"
BROKEN = HERE / "broken"
CHEATS = HERE / "cheats"
HONEST = HERE / "honest"

Evaluate = Callable[..., Result]

# In the background of a shell's script interrupts are ignored, and whatever is started from there inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def quick(**changes: object) -> Settings:
    """Little timing: what these tests ask is not how fast something is."""
    options: dict[str, object] = {"device": "cpu", "budget_s": 0.1, "trials": 2}
    return Settings(**{**options, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def referee() -> Iterator[Referee]:
    with Referee("cpu", root=str(ROOT)) as warm:
        yield warm


@pytest.fixture(scope="session")
def evaluate(referee: Referee) -> Evaluate:
    def run(
        solution: Path | str, problem: Path | str = AFFINE, workload: str | None = None, **changes: object
    ) -> Result:
        workloads = (workload,) if workload else ()
        return referee.evaluate(problem, solution, workloads, quick(**changes))[0]

    return run


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KBENCH_ROOT", "KBENCH_CACHE"):
        if name in os.environ:
            monkeypatch.delenv(name)
