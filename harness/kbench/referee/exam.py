"""What the solutions of one problem in one workload are examined with.

The reference with its models, the trials with their truths, and the baselines' workers: for the next solution of the
same problem everything but the contents of timed calls is kept, since most of an evaluation's time beside the timing
goes into making it. No solution can hand on what it saw: nothing of its jail outlives it.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch

from kbench import problem_settings, tree
from kbench.build.cache import default_folder
from kbench.device import limits
from kbench.device.interface import Device
from kbench.errors import ProblemFault
from kbench.problem import Source
from kbench.problem_settings import ProblemSettings
from kbench.records import Floor, Settings
from kbench.referee import floor
from kbench.referee.arena import Layout
from kbench.referee.blame import ProblemCode
from kbench.referee.instance import Instance, Instances, Room
from kbench.referee.reference import Reference
from kbench.referee.seeds import Seeds
from kbench.referee.side import Side
from kbench.referee.size import Size, size
from kbench.referee.switches import Switches
from kbench.referee.trials import Trials
from kbench.settings import EAGER


@dataclass(frozen=True)
class Survey:
    """What decides how many calls a round has."""

    call_s: float
    free_bytes: int


class Exam:
    def __init__(
        self,
        source: Source,
        of_problem: ProblemSettings,
        workload: str,
        device: Device,
        asked: Settings,
        problem_code: ProblemCode,
    ) -> None:
        self.source = source
        self.of_problem = of_problem
        self.workload = workload
        self.device = device
        self.asked = asked
        self.problem_code = problem_code
        self.seeds = Seeds(asked.seed)
        self.baselines: list[Side] = []
        self.layout: Layout | None = None
        self.size = Size(0, 0)
        self.uses = 0
        self._held: str | None = None  # the instance that the baselines hold
        self._checked: set[str] = set()
        self.surveyed: Survey | None = None
        self._explored: tuple[torch.nn.Module, Any, list[torch.Tensor] | None] | None = None
        with problem_code():
            self.reference = Reference(source, of_problem, workload, device)
            self.arguments = self.reference.arguments()
        room = Room(device)
        self.instances = Instances(self.reference, self.arguments, self.seeds, asked, room, self._watched)
        self.trials = Trials(self.reference, self.seeds, room, self._watched)
        self.stated = problem_settings.read(source, self.reference.module)  # bytes and operations of this workload
        self.pickled = self._pickled()
        self.switches = Switches.now()

    def names(self) -> tuple[str, ...]:
        """The baselines that are timed beside a solution."""
        return self.asked.baselines or self.of_problem.baselines or (EAGER,)

    def missing(self) -> list[str]:
        """Baselines that have no worker yet."""
        return [name for name in self.names() if all(side.name != name for side in self.baselines)]

    def serves(self, source: Source, workload: str, asked: Settings) -> bool:
        """Whether an evaluation would make just this one, and the baselines still live."""
        same = (self.source, self.workload, _relevant(self.asked)) == (source, workload, _relevant(asked))
        afresh = wants_fresh_processes(self.asked) or wants_fresh_processes(asked)
        return bool(same and not afresh and self.baselines) and all(side.is_idle() for side in self.baselines)

    def reuse(self, problem_code: ProblemCode) -> None:
        """The next evaluation begins."""
        self.problem_code = problem_code
        self.uses += 1
        self.instances.forget_begun("second")  # of a solution that failed on its way there
        self.switches.restore()

    def explore(self) -> None:
        """The reference's first call, which takes longer than all that follow."""
        self.instances.begin("first")
        model = self.instances.begun("first")
        with self.problem_code():
            given = self.reference.draw(self.seeds.for_use("inputs", "first", 0))
            outcome = self.reference.run(model, given, None)
            upstream = self.instances.upstream(outcome) if self.of_problem.grad else None
        self._explored = model, given, upstream
        del outcome
        self.device.hand_back()  # workers rise now, and need some of what that call took

    def survey(self) -> None:
        """How long a call takes and how much memory there is, while no solution can change that.

        They decide how many calls a round has. What a round of few calls hides is much of a short one.
        """
        assert self._explored
        with self.problem_code():
            call_s = self.reference.seconds_per_call(*self._explored)
        self._explored = None
        self.device.hand_back()
        self.surveyed = Survey(call_s, self.device.free_bytes())

    def open(self, instance: Instance) -> Layout:
        """How large an arena has to be."""
        assert self.surveyed
        if self.layout is None:
            with self.problem_code():
                outputs = self._roomy(instance)
            self.layout = Layout(instance.skeleton, outputs, instance.case.gradients, self.device.flush_bytes())
            sides, known = 1 + len(self.names()), self.surveyed
            self.size = size(self.device, known.free_bytes, self.layout, sides, known.call_s)
        return self.layout

    def floor(self, instance: Instance) -> Floor | None:
        """The least that a call of this workload can take here."""
        assert self.layout
        if self._rates is None:
            return None
        model = instance.case.model
        kept = sum(part.numel() * part.element_size() for part in (*model.parameters(), *model.buffers()))
        moved = self.layout.input_bytes + self.layout.output_bytes + (kept if self.layout.flush_bytes else 0)
        eight_bit = any(part.element_size() == 1 for part in instance.inputs)
        stated = self.stated
        return floor.floor(stated.bytes, moved, stated.flops, self._rates, self.device.cache_bytes(), eight_bit)

    @functools.cached_property
    def _rates(self) -> limits.Rates | None:
        return limits.known(self.device, default_folder())

    def lacking(self, name: str, timed: bool) -> list[Side]:
        """The baselines that have to be given this instance: to be checked once, and whenever it is timed.

        Who asks gives it to them: they hold none until `given` says so.
        """
        if name in self._checked and (not timed or self._held == name):
            return []
        self._held = None
        return self.baselines

    def given(self, name: str) -> None:
        self._checked.add(name)
        self._held = name

    def close(self, end: Callable[[Side], None]) -> None:
        for side in self.baselines:
            end(side)
        self.baselines = []
        self.instances.close()
        self._explored = None

    def _watched(self) -> AbstractContextManager[None]:
        """Around the problem's own code, as the current evaluation has it watched."""
        return self.problem_code()

    def _roomy(self, instance: Instance) -> tree.Skeleton:
        """Room for outputs whose length depends on the contents of the inputs."""
        case, seen = instance.case, [instance.outputs]
        for number in range(2):
            other = self.reference.draw(self.seeds.for_use("shape", number))
            seen.append(tree.describe(case.expected(self.reference.run(case.model, other, case.upstream))))
        return seen[0] if all(one == seen[0] for one in seen) else tree.roomier(seen)

    def _pickled(self) -> bytes:
        try:
            return pickle.dumps(self.arguments)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ProblemFault(
                f"{self.source.path}: get_init_inputs() cannot be sent to a worker: {error}",
                "return numbers, strings, tensors and nests of them",
            ) from None


def wants_fresh_processes(asked: Settings) -> bool:
    """Several processes, or a run to be repeated exactly, are asked for to have them."""
    return asked.processes > 1 or asked.seed is not None


def _relevant(asked: Settings) -> tuple[object, ...]:
    """What an exam depends on."""
    return asked.trials, asked.atol, asked.rtol, asked.baselines, tuple(sorted(asked.timeouts.items()))
