"""What the solutions of one problem in one workload are examined with.

The reference with its models, the trials with their truths, and the baselines' workers: for the next solution of the
same problem everything but the contents of timed calls is kept, since most of an evaluation's time beside the timing
goes into making it. No solution can hand on what it saw: nothing of its jail outlives it.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import torch

from kbench import problem, tree
from kbench.build.cache import default_folder
from kbench.device import limits
from kbench.device.interface import Device
from kbench.errors import ProblemFault
from kbench.problem import TRANSFORMS, ProblemSettings, Source
from kbench.protocol import Constructed
from kbench.records import Floor, Settings
from kbench.referee import check, floor, numerics, weights
from kbench.referee.arena import Plan
from kbench.referee.check import Case, Trial
from kbench.referee.reference import Outcome, Reference, randomise_constants
from kbench.referee.seeds import Seeds
from kbench.referee.side import Side
from kbench.referee.size import Size, size
from kbench.referee.switches import Switches
from kbench.settings import EAGER

KEPT_SHARE = {"cpu": 0.02, "cuda": 0.08}  # of memory, for trials; what is larger is made again
ProblemCode = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Signature:
    """How a solution's weights relate to the reference's. Solutions that agree in this can share an exam."""

    loaded: bool
    buffers: tuple[str, ...]  # that both have


@dataclass(frozen=True)
class Survey:
    """What decides how many calls a round has."""

    call_s: float
    free_bytes: int


@dataclass
class Instance:
    """The reference with one set of weights."""

    name: str
    signature: Signature
    case: Case
    given: Any
    first: Trial | None  # None once it was used, where it is too large to keep
    outputs: tree.Skeleton
    skeleton: tree.Skeleton  # of the inputs, gradients of outputs included
    trials: dict[int, Trial] = field(default_factory=dict)
    transforms: dict[str, Trial | None] = field(default_factory=dict)

    @property
    def inputs(self) -> list[torch.Tensor]:
        return [*tree.tensors(self.given), *(self.case.upstream or ())]


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
        self.plan: Plan | None = None
        self.size = Size(0, 0)
        self.uses = 0
        self._bound: Signature | None = None  # of the solutions that this exam is for: outputs depend on it
        self._models: dict[str, torch.nn.Module] = {}  # of instances to come
        self._instances: dict[str, Instance] = {}
        self._held: str | None = None  # the instance that the baselines hold
        self._checked: set[str] = set()
        self._kept_bytes = 0
        self._is_full = False
        self.surveyed: Survey | None = None
        self._explored: tuple[torch.nn.Module, Any, list[torch.Tensor] | None] | None = None
        with problem_code():
            self.reference = Reference(source, of_problem, workload, device)
            self.arguments = self.reference.arguments()
        self.stated = problem.settings(source, self.reference.module)  # bytes and operations of this workload
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
        self._models.pop("second", None)  # of a solution that failed on its way there
        self.switches.restore()

    def weights_seed(self, name: str) -> int:
        return self.seeds.for_use("weights", name)

    def explore(self) -> None:
        """The reference's first call, which takes longer than all that follow."""
        self.begin("first")
        model = self._models["first"]
        with self.problem_code():
            given = self.reference.draw(self.seeds.for_use("inputs", "first", 0))
            outcome = self.reference.run(model, given, None)
            self._explored = model, given, self._upstream(outcome) if self.of_problem.grad else None

    def survey(self) -> None:
        """How long a call takes and how much memory there is, while no solution can change that.

        They decide how many calls a round has. What a round of few calls hides is much of a short one.
        """
        assert self._explored
        with self.problem_code():
            call_s = self.reference.seconds_per_call(*self._explored)
        self._explored = None
        self.surveyed = Survey(call_s, self.device.free_bytes())

    def begin(self, name: str) -> None:
        """Constructs the reference's model of an instance, if there is none: meanwhile others construct theirs."""
        if name not in self._instances and name not in self._models:
            with self.problem_code():
                self._models[name] = self.reference.construct(self.arguments, self.weights_seed(name))

    def signature(self, constructed: Constructed) -> Signature:
        """Compared with a model as it is constructed: names and shapes, no values."""
        model = next(iter([*(known.case.model for known in self._instances.values()), *self._models.values()]))
        loaded = weights.agree(model, constructed)
        return Signature(loaded, tuple(weights.shared_buffers(model, constructed)) if loaded else ())

    def suits(self, constructed: Constructed) -> bool:
        """Whether a solution constructed like this has the outputs that the arenas were made for."""
        return self._bound is None or self._bound == self.signature(constructed)

    def instance(self, name: str, constructed: Constructed) -> Instance:
        """The one that a solution constructed like this is held against."""
        self.begin(name)
        signature = self._bound = self.signature(constructed)
        known = self._instances.get(name)
        if known is None:
            known = self._made(name, signature, constructed)
            if known.first and self._may_keep(known.first):
                self._instances[name] = known
        return known

    def trial(self, instance: Instance, number: int) -> Trial:
        """Fresh inputs with their truth; the first was made with the instance."""
        if number == 0:
            return self._first(instance)
        if number in instance.trials:
            return instance.trials[number]
        with self.problem_code():
            given = self.reference.draw(self.seeds.for_use("inputs", instance.name, number))
            self._demand_shapes(instance, given)
            trial = check.prepare(instance.case, given, f"trial {number + 1} of the first instance")
        if self._may_keep(trial):
            instance.trials[number] = trial
        return trial

    def _first(self, instance: Instance) -> Trial:
        trial = instance.first
        assert trial
        if instance.name not in self._instances:
            instance.first = None
        return trial

    def transformed(self, instance: Instance) -> Iterator[tuple[str, Trial | None]]:
        """The trials on transformed inputs; None for one that the reference does not take."""
        for name in sorted(self.of_problem.transforms, key=TRANSFORMS.index):
            if name in instance.transforms:
                yield name, instance.transforms[name]
                continue
            if name == "one" and instance.first is None:
                # So large that every trial takes long, and no table of answers would hold one.
                yield name, None
                continue
            with self.problem_code():
                seed = self.seeds.for_use("transform", name)
                trial = check.transform(instance.case, instance.given, name, seed)
            if trial is not None and trial.skeleton != instance.outputs:
                trial = None
            if trial is None or self._may_keep(trial):
                instance.transforms[name] = trial
            yield name, trial

    def foresee(self, instance: Instance) -> None:
        """Makes the trials to come while others are busy; those that are too large to keep are made in their turn."""
        if self._is_full:
            return
        for _ in self.transformed(instance):
            if self._is_full:
                return
        for number in range(1, self.asked.trials):
            self.trial(instance, number)
            if self._is_full:
                return

    def open(self, instance: Instance) -> Plan:
        """How large an arena has to be."""
        assert self.surveyed
        if self.plan is None:
            with self.problem_code():
                outputs = self._roomy(instance)
            self.plan = Plan(instance.skeleton, outputs, instance.case.gradients, self.device.flush_bytes())
            sides, known = 1 + len(self.names()), self.surveyed
            self.size = size(self.device, known.free_bytes, self.plan, sides, known.call_s)
        return self.plan

    def floor(self, instance: Instance) -> Floor | None:
        """The least that a call of this workload can take here."""
        assert self.plan
        if self._limits is None:
            return None
        model = instance.case.model
        kept = sum(part.numel() * part.element_size() for part in (*model.parameters(), *model.buffers()))
        moved = self.plan.input_bytes + self.plan.output_bytes + (kept if self.plan.flush_bytes else 0)
        eight_bit = any(part.element_size() == 1 for part in instance.inputs)
        stated = self.stated
        return floor.floor(stated.bytes, moved, stated.flops, self._limits, self.device.cache_bytes(), eight_bit)

    @functools.cached_property
    def _limits(self) -> limits.Limits | None:
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
        self._instances, self._models = {}, {}

    def _made(self, name: str, signature: Signature, constructed: Constructed) -> Instance:
        model = self._models.pop(name)
        with self.problem_code():
            if signature.loaded:
                randomise_constants(model, torch.Generator().manual_seed(self.seeds.for_use("constants", name)))
            case = Case(self.reference, model, (), signature.buffers, None, self._asked_tolerance)
            case.full_precision = self.of_problem.precision == "full"
            given = self.reference.draw(self.seeds.for_use("inputs", name, 0))
            self._complete(case, given, constructed if signature.loaded else None)
            first = check.prepare(case, given, f"trial 1 of the {name.split('-')[0]} instance")
            check.demand_sound(case, first)
        parts = [given, case.upstream] if case.upstream is not None else given
        skeleton = tree.describe(parts, strides=True)
        return Instance(name, signature, case, given, first, first.skeleton, skeleton)

    def _complete(self, case: Case, given: Any, constructed: Constructed | None) -> None:
        """What counts as output beside the returned value: changed buffers, and gradients."""
        outcome = case.reference.run(case.model, given, None)
        case.state = tuple(name for name in outcome.changed if name in case.state)
        if self.of_problem.grad:
            self._complete_gradients(case, given, outcome, constructed)

    def _complete_gradients(self, case: Case, given: Any, outcome: Outcome, constructed: Constructed | None) -> None:
        case.upstream = self._upstream(outcome)
        outcome = case.reference.run(case.model, given, case.upstream)
        shared = set(constructed.parameters) if constructed else set()
        parameters = {name for name, _ in case.model.named_parameters()}
        case.gradients = tuple(
            name
            for name, grad in outcome.gradients.items()
            if grad is not None and (name not in parameters or name in shared)
        )

    def _upstream(self, outcome: Outcome) -> list[torch.Tensor]:
        generator = torch.Generator(self.device.torch_device).manual_seed(self.seeds.for_use("upstream"))
        return [
            torch.randn(head.shape, generator=generator, device=head.device, dtype=torch.float32).to(head.dtype)
            for head in tree.tensors(outcome.output)
            if head.is_floating_point()
        ]

    def _demand_shapes(self, instance: Instance, given: Any) -> None:
        if [one.shape for one in tree.tensors(given)] != [one.shape for one in tree.tensors(instance.given)]:
            raise ProblemFault(
                f"{self.source.path}: get_inputs() returns other shapes from call to call",
                "one workload is one setting of shapes; make several workloads",
            )

    def _roomy(self, instance: Instance) -> tree.Skeleton:
        """Room for outputs whose length depends on the contents of the inputs."""
        case, seen = instance.case, [instance.outputs]
        for number in range(2):
            other = self.reference.draw(self.seeds.for_use("shape", number))
            seen.append(tree.describe(case.expected(self.reference.run(case.model, other, case.upstream))))
        return seen[0] if all(one == seen[0] for one in seen) else tree.roomier(seen)

    def _may_keep(self, trial: Trial) -> bool:
        """While all that is kept is small: a truth in float64 may be most of the memory there is."""
        tensors = [*tree.tensors(trial.given), *trial.truth, *trial.inputs_after]
        own = {id(tensor): tensor.numel() * tensor.element_size() for tensor in tensors}
        size = sum(own.values())
        fits = bool(self._kept_bytes + size <= KEPT_SHARE[self.device.kind] * (self.device.info().memory_bytes or 0))
        self._kept_bytes += size if fits else 0
        self._is_full |= not fits
        return fits

    def _pickled(self) -> bytes:
        try:
            return pickle.dumps(self.arguments)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ProblemFault(
                f"{self.source.path}: get_init_inputs() cannot be sent to a worker: {error}",
                "return numbers, strings, tensors and nests of them",
            ) from None

    def _asked_tolerance(self, dtype: torch.dtype) -> numerics.Tolerance:
        of, user = self.of_problem, self.asked
        atol = user.atol if user.atol is not None else of.atol
        rtol = user.rtol if user.rtol is not None else of.rtol
        return numerics.tolerance(dtype, atol, rtol, of.norm_tol)


def wants_fresh_processes(asked: Settings) -> bool:
    """Several processes, or a run to be repeated exactly, are asked for to have them."""
    return asked.processes > 1 or asked.seed is not None


def _relevant(asked: Settings) -> tuple[object, ...]:
    """What an exam depends on."""
    return asked.trials, asked.atol, asked.rtol, asked.baselines, tuple(sorted(asked.timeouts.items()))
