"""What a solution is called with before it is timed: fresh inputs and changed ones, each with its truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kbench import tree
from kbench.errors import ProblemFault
from kbench.problem_settings import TRANSFORMS
from kbench.referee import truth
from kbench.referee.blame import ProblemCode
from kbench.referee.instance import Instance, Room
from kbench.referee.reference import Reference
from kbench.referee.seeds import Seeds
from kbench.referee.truth import Trial


class Trials:
    """Those of one exam, made once for all its solutions while what is kept of them is small."""

    def __init__(self, reference: Reference, seeds: Seeds, room: Room, problem_code: ProblemCode) -> None:
        self.reference = reference
        self.seeds = seeds
        self.room = room
        self.problem_code = problem_code

    def get(self, instance: Instance, number: int) -> Trial:
        """Fresh inputs with their truth; the first was made with the instance."""
        if number == 0:
            return self._first(instance)
        if number in instance.trials:
            return instance.trials[number]
        with self.problem_code():
            given = self.reference.draw(self.seeds.for_use("inputs", instance.name, number))
            self._demand_shapes(instance, given)
            trial = truth.prepare(instance.case, given, f"trial {number + 1} of the first instance")
        if self.room.takes(trial):
            instance.trials[number] = trial
        return trial

    def transformed(self, instance: Instance) -> Iterator[tuple[str, Trial | None]]:
        """The trials on transformed inputs; None for one that the reference does not take."""
        for name in sorted(self.reference.settings.transforms, key=TRANSFORMS.index):
            if name in instance.transforms:
                yield name, instance.transforms[name]
                continue
            if name == "one" and instance.first is None:
                # So large that every trial takes long, and no table of answers would hold one.
                yield name, None
                continue
            with self.problem_code():
                seed = self.seeds.for_use("transform", name)
                trial = truth.transform(instance.case, instance.given, name, seed)
            if trial is not None and trial.skeleton != instance.outputs:
                trial = None
            if trial is None or self.room.takes(trial):
                instance.transforms[name] = trial
            yield name, trial

    def foresee(self, instance: Instance, count: int) -> None:
        """Makes those to come while others are busy; what is too large to keep is made in its turn."""
        if self.room.is_full:
            return
        for _ in self.transformed(instance):
            if self.room.is_full:
                return
        for number in range(1, count):
            self.get(instance, number)
            if self.room.is_full:
                return

    def _first(self, instance: Instance) -> Trial:
        trial = instance.first
        assert trial
        if not instance.kept:
            instance.first = None
        return trial

    def _demand_shapes(self, instance: Instance, given: Any) -> None:
        if [one.shape for one in tree.tensors(given)] != [one.shape for one in tree.tensors(instance.given)]:
            raise ProblemFault(
                f"{self.reference.source.path}: get_inputs() returns other shapes from call to call",
                "one workload is one setting of shapes; make several workloads",
            )
