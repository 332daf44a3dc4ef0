"""Which exam a referee keeps, and what it knows beyond one."""

from __future__ import annotations

from collections.abc import Callable

from kbench.problem import Source
from kbench.problem_settings import ProblemSettings
from kbench.records import Settings
from kbench.referee.blame import ProblemCode
from kbench.referee.busy import Watch
from kbench.referee.exam import Exam
from kbench.referee.side import Side
from kbench.referee.staff import Staff


class Exams:
    """The exam of the problem that was last: at most one, since it holds memory and workers."""

    def __init__(self, staff: Staff) -> None:
        self.staff = staff
        self.of_problem = ProblemSettings()
        self.watch = Watch()
        self._current: Exam | None = None

    def begin(self, source: Source, load: Callable[[], ProblemSettings]) -> ProblemSettings:
        """The problem's settings; only a new problem has to be run for them."""
        if self._current is None or self._current.source != source:
            self.drop()
            self.watch.begin(self.staff.device)
            self.of_problem = load()
        return self.of_problem

    def get(self, source: Source, workload: str, asked: Settings, problem_code: ProblemCode) -> Exam:
        if self._current and self._current.serves(source, workload, asked):
            self._current.reuse(problem_code)
            return self._current
        self.drop()
        self.staff.make_room()
        self._current = Exam(source, self.of_problem, workload, self.staff.device, asked, problem_code)
        return self._current

    def drop(self) -> None:
        """The end of this problem."""
        self._close(self.staff.retire)

    def discard(self) -> None:
        """The same where a baseline may be in the middle of something."""
        self._close(self.staff.part)

    def _close(self, end: Callable[[Side], None]) -> None:
        if self._current:
            self._current.close(end)
        self._current = None
