"""One solution sits one exam: it is constructed, and called on every trial. Baselines with it, once."""

from __future__ import annotations

from collections.abc import Callable

import torch

from kbench.errors import DoesNotFit
from kbench.protocol import Constructed
from kbench.referee import check, weights
from kbench.referee.arena import Layout
from kbench.referee.check import Findings
from kbench.referee.draft import Draft
from kbench.referee.exam import Exam
from kbench.referee.exams import Exams
from kbench.referee.instance import Instance
from kbench.referee.ruling import Stopped
from kbench.referee.side import Side
from kbench.referee.size import Size
from kbench.referee.staff import Staff
from kbench.referee.stages import Stages
from kbench.settings import Settings


class Sitting:
    def __init__(
        self,
        solution: Side,
        staff: Staff,
        exams: Exams,
        stages: Stages,
        draft: Draft,
        asked: Settings,
        word: Callable[[], int],
    ) -> None:
        """`word` is what outputs are poisoned with, another one each time."""
        self.solution = solution
        self.staff = staff
        self.exams = exams
        self.stages = stages
        self.draft = draft
        self.asked = asked
        self.word = word

    def construct(self, exam: Exam, name: str) -> Constructed:
        """The solution's model, on a fresh seed; the reference constructs its own meanwhile."""
        self.solution.begin(exam.instances.weights_seed(name), exam.pickled)
        exam.instances.begin(name)
        constructed = self.solution.constructed()
        self.draft.changed = tuple(dict.fromkeys((*self.draft.changed, *constructed.changed)))
        return constructed

    def check(self, exam: Exam, name: str, constructed: Constructed) -> Instance:
        """A model with new weights on all sides, then the trials of this instance."""
        waiting = exam.lacking(name, timed=name == "second")
        for side in waiting:  # they construct theirs while the reference's first trial is made
            with self.stages.at_no_cost(side):
                side.begin(exam.instances.weights_seed(name), exam.pickled)
        instance = exam.instances.get(name, constructed)
        for side in waiting:
            with self.stages.at_no_cost(side):
                self._give_weights(side, side.constructed(), instance)
        self.draft.weights = "loaded" if instance.signature.loaded else "seeded"
        if instance.signature.loaded:
            weights.hand_over(instance.case.model, list(instance.signature.buffers), self.solution)
        trial = exam.trials.get(instance, 0)
        if self.solution.arena is None:
            self._open(exam, instance)
        check.run(self.solution, instance.case, trial, 0, self.word(), self.draft.findings)
        for side in waiting:
            with self.stages.at_no_cost(side):
                check.run(side, instance.case, trial, 0, self.word(), Findings())
        if waiting:
            exam.given(name)
        del trial  # a truth in float64 may be most of the memory there is
        if name == "first":
            self._trials(exam, instance)
        self.draft.instances += 1
        return instance

    def _trials(self, exam: Exam, instance: Instance) -> None:
        findings = self.draft.findings
        # The first changes one element of what the call before was given, for whoever looks at a few of them.
        for name, trial in exam.trials.transformed(instance):
            self.stages.demand_time()
            if trial is None:
                findings.dropped.append(name)
                continue
            check.run(self.solution, instance.case, trial, 1, self.word(), findings)
            findings.transforms.append(name)
        for number in range(1, self.asked.trials):
            self.stages.demand_time()
            trial = exam.trials.get(instance, number)
            check.run(self.solution, instance.case, trial, number % 2, self.word(), findings)

    def _give_weights(self, side: Side, own: Constructed, instance: Instance) -> None:
        if weights.agree(instance.case.model, own):
            weights.hand_over(instance.case.model, weights.shared_buffers(instance.case.model, own), side)

    def _open(self, exam: Exam, instance: Instance) -> None:
        self.staff.make_room()
        layout = exam.open(instance)
        if self.staff.device.kind == "cpu":
            # Memory that a baseline got for a former solution is up to a tenth quicker than what this one gets now.
            for side in exam.baselines:
                side.free()
        fresh = [side for side in (*exam.baselines, self.solution) if side.arena is None]
        self.staff.device.hand_back()
        try:
            self._offer(fresh, layout, exam.size)
            exam.trials.foresee(instance, self.asked.trials)  # opening it takes a worker some time
            for side in fresh:
                side.opened()
        except Stopped:
            self.exams.discard()  # an answer of a baseline may be on its way
            raise

    def _offer(self, sides: list[Side], layout: Layout, size: Size) -> None:
        try:
            for side in sides:
                side.offer(layout, size)
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise DoesNotFit(f"no memory for the arena: {error}", "choose a smaller --workload") from None
