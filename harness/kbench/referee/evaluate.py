"""One evaluation, told in order: load, check, time, trace, rule. Everything that decides lies elsewhere."""

from __future__ import annotations

import contextlib
import time
from contextlib import AbstractContextManager

from kbench import settings as kbench_settings
from kbench import solution as kbench_solution
from kbench import stats
from kbench.device.interface import Device
from kbench.device.lease import Lease
from kbench.problem import Source
from kbench.records import Result
from kbench.referee import evidence, hog
from kbench.referee.builds import Builds
from kbench.referee.busy import Peace
from kbench.referee.contest import Contest
from kbench.referee.draft import Draft
from kbench.referee.events import Tell
from kbench.referee.exam import Exam
from kbench.referee.exams import Exams
from kbench.referee.instance import Instance
from kbench.referee.load import Loader
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.seeds import Seeds
from kbench.referee.series import Series
from kbench.referee.side import SOLUTION, Side
from kbench.referee.sitting import Sitting
from kbench.referee.staff import Staff
from kbench.referee.stages import Stages
from kbench.referee.timing import Timer
from kbench.settings import Settings


class Evaluation:
    """One problem, one workload, one solution."""

    def __init__(
        self,
        staff: Staff,
        builds: Builds,
        lease: Lease,
        exams: Exams,
        source: Source,
        workload: str,
        candidate: kbench_solution.Source,
        asked: Settings,
        tell: Tell,
    ) -> None:
        self.staff = staff
        self.device: Device = staff.device
        self.builds = builds
        self.lease = lease
        self.exams = exams
        self.source = source
        self.workload = workload
        self.candidate = candidate
        self.asked = asked
        self.seeds = Seeds(asked.seed)  # of the exam, once there is one
        self.seconds = kbench_settings.deadlines(asked, self.device.kind, exams.of_problem.timeout)
        self.loader = Loader(staff, exams, source, workload, asked, self.seconds)
        self.draft = Draft(self.device, staff, source, workload, candidate, builds, asked)
        self.draft.custom_kernel = exams.of_problem.custom_kernel
        self.solution: Side | None = None
        self.stages = Stages(tell, self.seconds, self.draft.seconds)

    def run(self) -> Result:
        """The result, whatever the solution does. Faults of problem or machine are raised."""
        began = time.monotonic()
        try:
            if self.candidate.text is None:
                raise Stopped(Ruling("load_failed", self.candidate.fault or "it cannot be read"))
            self._evaluate()
            ruling = self.draft.ruling()
        except Stopped as stop:
            ruling = stop.ruling
            if ruling.verdict == "unsupported":
                self.exams.discard()  # it may be a baseline that is in the middle of something
        finally:
            self._end()
        self.draft.seconds["total"] = time.monotonic() - began
        return self.draft.result(ruling)

    def _evaluate(self) -> None:
        for _ in range(self.asked.processes):
            exam = self._exam()
            with self._leased(early=True):
                self._load(exam)
                with self._leased(early=False), self._hogs_told(exam):
                    self._check_and_time(exam)
            self._end()

    def _exam(self) -> Exam:
        exam = self.exams.get(self.source, self.workload, self.asked, self.stages.problem_code)
        # A kept exam has seeds of its own; what is timed is new in any case.
        self.seeds = Seeds(None) if exam.uses else exam.seeds
        self.draft.seeds = tuple(dict.fromkeys((exam.seeds.master, self.seeds.master)))
        return exam

    def _check_and_time(self, exam: Exam) -> None:
        with self.stages.stage("check"):
            exam, instance = self._checked(exam)
        with self.staff.quiet(), self.stages.stage("time"):
            self._time(exam, instance)
        self.staff.restock()  # as early as it disturbs nothing that is timed
        with self.stages.stage("trace"):
            self.draft.floor = exam.floor(instance)
            self._trace()

    def _checked(self, exam: Exam) -> tuple[Exam, Instance]:
        """The exam, which may have to be another one, and the instance that is timed."""
        solution, word = self._solution(), self._word
        sitting = Sitting(solution, self.staff, self.exams, self.stages, self.draft, self.asked, word)
        constructed = sitting.construct(exam, "first")
        if not exam.instances.suits(constructed):
            exam = self._renewed(exam)
            constructed = sitting.construct(exam, "first")
        sitting.check(exam, "first", constructed)
        # The second has other weights: what was kept from the first is wrong now. It is also the one that is timed.
        constructed = sitting.construct(exam, "second")
        if not exam.instances.suits(constructed):
            raise Stopped(Ruling("wrong", "its parameters and buffers differ from one construction to the next"))
        return exam, sitting.check(exam, "second", constructed)

    def _load(self, exam: Exam) -> None:
        with self.stages.stage("load"):
            self._prepare(exam)
            self.staff.make_room()  # what the one before held counts for nobody else
            self.solution = Side(SOLUTION, self.staff.hire(), self.device, self.seconds)
            self.draft.changed = self.loader.load_solution(self.solution, self.candidate, self.builds).changed

    def _prepare(self, exam: Exam) -> None:
        """All that is for the next solution too: before this one, which may fail."""
        if exam.surveyed is None:
            exam.explore()  # while workers rise and former ones leave
        self.loader.load_baselines(exam)
        if exam.surveyed is None:
            with self.staff.quiet():
                exam.survey()

    def _renewed(self, exam: Exam) -> Exam:
        """An exam for a solution whose outputs are others: gradients and buffers that it shares with the reference."""
        self.exams.drop()
        renewed = self._exam()
        self.loader.load_baselines(renewed)
        renewed.surveyed = exam.surveyed  # now the solution could change it
        return renewed

    def _time(self, exam: Exam, instance: Instance) -> None:
        arena, baseline = self._solution().arena, exam.baselines[-1].arena
        assert arena and baseline
        contest = Contest(
            instance.case,
            self.draft.findings,
            instance.inputs,
            instance.skeleton,
            exam.size,
            arena.layout,
            self.exams.watch,
        )
        rule = stats.stop_rule(self.device.kind, self.asked.budget_s)
        probe = self.device.probe()
        sides = [self._solution(), *exam.baselines]

        def run() -> Series:
            self.stages.demand_time()
            return Timer(sides, contest, self.seeds.next_round, probe).run(rule, self.stages.demand_time)

        peace = Peace(self.exams.watch, baseline.flush_once, self._see_off)
        try:
            for _ in range(2):
                series = peace.measured(run)
                self.draft.seconds["timed"] = self.draft.seconds.get("timed", 0.0) + series.spent_s
                # One contradiction may be the machine's; only a second series makes it the solution's.
                if self.draft.attest(series).status != "contradicted":
                    break
        finally:
            self.draft.disturbed += peace.disturbed
        self.draft.timed(series, probe)

    def _trace(self) -> None:
        """Last, since being watched slows what follows. What fails only now was checked and timed without a fault."""
        passes = evidence.passes(self.device.kind, self.draft.times.seen_ms(), bool(self.draft.custom_kernel))
        with contextlib.suppress(Stopped):
            self.draft.traced(self._solution().trace(0, passes))

    def _solution(self) -> Side:
        assert self.solution is not None
        return self.solution

    def _word(self) -> int:
        return self.seeds.next_round() % 2**31

    def _hogs_told(self, exam: Exam) -> AbstractContextManager[None]:
        assert exam.surveyed
        return hog.told(self.device, exam.surveyed.free_bytes, self._hold_still, self._see_off, self._discard)

    def _hold_still(self) -> None:
        if self.solution:
            self.solution.handle.freeze()
        self.staff.see_off()

    def _discard(self) -> None:
        self.exams.discard()
        self.staff.see_off()

    def _leased(self, early: bool) -> AbstractContextManager[None]:
        """On the CPU builds disturb the timing of others, so the lease comes before loading."""
        here = early == (self.device.kind == "cpu")
        return self.stages.leased(self.lease) if here else contextlib.nullcontext()

    def _end(self) -> None:
        self._part()
        self.staff.restock()

    def _see_off(self) -> None:
        self._part()
        self.staff.see_off()

    def _part(self) -> None:
        side, self.solution = self.solution, None
        if side is None:
            return
        self.draft.calls = side.calls
        self.draft.log = side.handle.log() or self.draft.log
        if self.asked.keep:
            self.draft.not_kept = side.handle.keep(self.asked.keep) or self.draft.not_kept
        self.staff.part(side)
