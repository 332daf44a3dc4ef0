"""Workers get a file to load: the solution's, or the problem's own as a baseline."""

from __future__ import annotations

import pickle
from typing import Any

from kbench import settings as kbench_settings
from kbench import solution as kbench_solution
from kbench.errors import MachineFault, ProblemFault
from kbench.problem import Source
from kbench.protocol import Load, Loaded
from kbench.referee.builds import Builds
from kbench.referee.exam import Exam, wants_fresh_processes
from kbench.referee.exams import Exams
from kbench.referee.handle import Handle
from kbench.referee.ruling import Stopped
from kbench.referee.side import Side
from kbench.referee.staff import Staff
from kbench.settings import COMPILED, Settings

COMPILE_S = 900.0


class Loader:
    """For one problem in one workload."""

    def __init__(
        self, staff: Staff, exams: Exams, source: Source, workload: str, asked: Settings, seconds: dict[str, float]
    ) -> None:
        self.staff = staff
        self.device = staff.device
        self.of_problem = exams.of_problem
        self.source = source
        self.workload = workload
        self.asked = asked
        self.seconds = seconds

    def load_solution(self, side: Side, candidate: kbench_solution.Source, builds: Builds) -> Loaded:
        handle = side.handle
        handle.answer_build = lambda ask: builds.build(ask, handle, self.seconds["build"])
        try:
            path = handle.place(candidate.path, candidate.text, candidate.folder)
        except OSError as error:
            raise MachineFault(f"no room for a worker's scratch: {error}", "free some memory or disk") from None
        return side.load(self._order(path, entry=self.asked.entry))

    def load_baselines(self, exam: Exam) -> None:
        """Those that have no worker yet."""
        for name in exam.missing():
            exam.baselines.append(Side(name, self._worker(), self.device, self._patience(name)))
            self._baseline(exam.baselines[-1])

    def _worker(self) -> Handle:
        return self.staff.hire() if wants_fresh_processes(self.asked) else self.staff.hire_again()

    def _patience(self, name: str) -> dict[str, float]:
        """How slow a baseline is, or its compiler, is no fault of the solution: what the user grants is for that."""
        usual = kbench_settings.DEADLINES[self.device.kind]
        least = {**usual, "first-call": COMPILE_S} if name in COMPILED else usual
        return {stage: max(seconds, least[stage]) for stage, seconds in self.seconds.items()}

    def _baseline(self, side: Side) -> None:
        try:
            path = side.handle.place(self.source.path, self.source.text, None)
            overrides = pickle.dumps(dict(self.of_problem.workloads.get(self.workload, {})))
            compiled = side.name if side.name in COMPILED else None
            side.load(self._order(path, reference=True, compiled=compiled, overrides=overrides))
        except Stopped as stop:
            raise ProblemFault(f"{self.source.path}: {stop.ruling.reason} in a worker", "mend the problem") from None

    def _order(self, path: str, entry: str | None = None, **options: Any) -> Load:
        threads, grad = self.device.info().threads or 1, self.of_problem.grad
        return Load(path=path, entry=entry, device=self.device.kind, threads=threads, grad=grad, **options)
