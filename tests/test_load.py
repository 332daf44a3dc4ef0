from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from conftest import quick
from kbench import problem
from kbench.device.cpu import Cpu
from kbench.errors import MachineFault, ProblemFault
from kbench.problem_settings import ProblemSettings
from kbench.protocol import Load, Loaded
from kbench.referee.builds import Builds
from kbench.referee.handle import Handle
from kbench.referee.load import COMPILE_S, Loader
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.side import SOLUTION, Side
from kbench.settings import DEADLINES

AFFINE = Path(__file__).parent / "fixtures" / "affine.py"


class Worker:
    """It has room for a file, or none, and loads it, or does not."""

    answer_build: Callable[[object], object]

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
        return Loaded(changed=())


def loader(worker: Worker, seconds: dict[str, float], fresh: Worker | None = None, **asked: Any) -> Loader:
    staff: Any = SimpleNamespace(device=Cpu(), hire=lambda: fresh, hire_again=lambda: worker)
    exams: Any = SimpleNamespace(of_problem=ProblemSettings(grad=True, workloads={"small": {"rows": 3}}))
    return Loader(staff, exams, problem.read(AFFINE, "affine"), "small", quick(**asked), seconds)


def missing(*names: str) -> Any:
    return SimpleNamespace(missing=lambda: list(names), baselines=[])


def test_a_baseline_has_at_least_the_usual_patience_whatever_the_solution_has() -> None:
    exam, worker, usual = missing("eager", "compile"), Worker(), DEADLINES["cpu"]
    loader(worker, {**usual, "load": 0.1, "first-call": 0.1, "call": 3600.0}).load_baselines(exam)
    eager, compiled = exam.baselines
    assert (eager.seconds["load"], eager.seconds["first-call"]) == (usual["load"], usual["first-call"])
    assert compiled.seconds["first-call"] == COMPILE_S
    assert eager.seconds["call"] == compiled.seconds["call"] == 3600.0


def test_a_baseline_runs_the_problem_as_the_workload_has_it() -> None:
    worker = Worker()
    loader(worker, DEADLINES["cpu"]).load_baselines(missing("eager", "compile"))
    assert [one.compiled for one in worker.asked] == [None, "compile"]
    for order in worker.asked:
        assert order.reference and order.grad and pickle.loads(order.overrides) == {"rows": 3}


def test_a_run_to_be_repeated_exactly_has_a_baseline_with_no_past() -> None:
    known, fresh = Worker(), Worker()
    loader(known, DEADLINES["cpu"], fresh, seed=1).load_baselines(missing("eager"))
    assert fresh.asked and not known.asked


def test_a_problem_that_a_worker_cannot_load_is_no_verdict_on_the_solution() -> None:
    with pytest.raises(ProblemFault, match="no Model in a worker"):
        loader(Worker(works=False), DEADLINES["cpu"]).load_baselines(missing("eager"))


def solution_into(worker: Worker, builds: object = None) -> Loaded:
    side: Any = Side(SOLUTION, cast(Handle, worker), Cpu(), dict(DEADLINES["cpu"]))
    candidate: Any = SimpleNamespace(path="solution.py", text="", folder=None)
    seconds = {**DEADLINES["cpu"], "build": 12.0}
    return loader(Worker(), seconds, entry="Mine").load_solution(side, candidate, cast(Builds, builds))


def test_a_solution_may_build_for_as_long_as_was_granted() -> None:
    worker, asked = Worker(), []
    solution_into(worker, SimpleNamespace(build=lambda *what: asked.append(what)))
    (order,) = worker.asked
    assert (order.entry, order.reference, order.compiled) == ("Mine", False, None)
    worker.answer_build("kernels")
    assert asked == [("kernels", worker, 12.0)]


def test_no_room_for_a_solution_is_no_verdict_either() -> None:
    with pytest.raises(MachineFault, match="No space left") as fault:
        solution_into(Worker(room=False))
    assert fault.value.fix
