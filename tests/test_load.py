from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import quick
from kbench import problem
from kbench.device.cpu import Cpu
from kbench.errors import MachineFault, ProblemFault
from kbench.problem import ProblemSettings
from kbench.protocol import Load, Loaded
from kbench.referee.load import COMPILE_S, Loader
from kbench.referee.ruling import Ruling, Stopped
from kbench.settings import DEADLINES

AFFINE = Path(__file__).parent / "fixtures" / "affine.py"


class Worker:
    """It has room for a file, or none, and loads it, or does not."""

    def __init__(self, room: bool = True, works: bool = True) -> None:
        self.room, self.works = room, works
        self.asked: list[Load] = []

    def place(self, *_: object) -> str:
        if not self.room:
            raise OSError("No space left on device")
        return "/there"

    def ask(self, order: Load, kind: object, seconds: float) -> Loaded:
        self.asked.append(order)
        if not self.works:
            raise Stopped(Ruling("load_failed", "no Model"))
        return Loaded(entry="Model", changed=())


def loader(worker: Worker, seconds: dict[str, float]) -> Loader:
    staff: Any = SimpleNamespace(device=Cpu(), hire=lambda: worker, hire_again=lambda: worker)
    exams: Any = SimpleNamespace(of_problem=ProblemSettings(grad=True, workloads={"small": {"rows": 3}}))
    return Loader(staff, exams, problem.read(AFFINE, "affine"), "small", quick(), seconds)


def test_a_baseline_has_at_least_the_usual_patience_whatever_the_solution_has() -> None:
    exam: Any = SimpleNamespace(missing=lambda: ["eager", "compile"], baselines=[])
    worker, usual = Worker(), DEADLINES["cpu"]
    loader(worker, {**usual, "load": 0.1, "first-call": 0.1, "call": 3600.0}).baselines(exam)
    eager, compiled = exam.baselines
    assert (eager.seconds["load"], eager.seconds["first-call"]) == (usual["load"], usual["first-call"])
    assert compiled.seconds["first-call"] == COMPILE_S
    assert eager.seconds["call"] == compiled.seconds["call"] == 3600.0
    assert [(one.compiled, one.reference, one.grad) for one in worker.asked] == [
        (None, True, True),
        ("compile", True, True),
    ]


def test_a_problem_that_a_worker_cannot_load_is_no_verdict_on_the_solution() -> None:
    exam: Any = SimpleNamespace(missing=lambda: ["eager"], baselines=[])
    with pytest.raises(ProblemFault, match="no Model in a worker"):
        loader(Worker(works=False), DEADLINES["cpu"]).baselines(exam)


def test_no_room_for_a_solution_is_no_verdict_either() -> None:
    side: Any = SimpleNamespace(handle=Worker(room=False))
    candidate: Any = SimpleNamespace(path="solution.py", text="", folder=None)
    with pytest.raises(MachineFault, match="No space left") as fault:
        loader(Worker(), DEADLINES["cpu"]).solution(side, candidate, SimpleNamespace())  # type: ignore[arg-type]
    assert fault.value.fix
