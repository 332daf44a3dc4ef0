"""The reference with one set of weights, and what a solution is held against with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from kbench import tree
from kbench.device.interface import Device
from kbench.protocol import Constructed
from kbench.records import Settings
from kbench.referee import numerics, truth, weights
from kbench.referee.blame import ProblemCode
from kbench.referee.case import Case
from kbench.referee.outcome import Outcome
from kbench.referee.reference import Reference, randomise_constants
from kbench.referee.seeds import Seeds
from kbench.referee.truth import Trial

KEPT_SHARE = {"cpu": 0.02, "cuda": 0.08}  # of the device's memory, for trials; what is larger is made again


@dataclass(frozen=True)
class Signature:
    """How a solution's weights relate to the reference's. Solutions that agree in this can share an exam."""

    loaded: bool
    buffers: tuple[str, ...]  # that both have


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
    kept: bool = False  # for the next solution
    trials: dict[int, Trial] = field(default_factory=dict)
    transforms: dict[str, Trial | None] = field(default_factory=dict)

    @property
    def inputs(self) -> list[torch.Tensor]:
        return [*tree.tensors(self.given), *(self.case.upstream or ())]


class Room:
    """What trials that are kept for the next solution take of the device's memory."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.bytes = 0
        self.is_full = False

    def takes(self, trial: Trial) -> bool:
        """While all that is kept is small: a truth in float64 may be most of the memory there is."""
        tensors = [*tree.tensors(trial.given), *trial.truth, *trial.inputs_after]
        own = {id(tensor): tensor.numel() * tensor.element_size() for tensor in tensors}
        size = sum(own.values())
        fits = bool(self.bytes + size <= KEPT_SHARE[self.device.kind] * (self.device.info().memory_bytes or 0))
        self.bytes += size if fits else 0
        self.is_full |= not fits
        return fits


class Instances:
    """Those of one exam: models as they are constructed, and instances made of them."""

    def __init__(
        self,
        reference: Reference,
        arguments: list[Any],
        seeds: Seeds,
        asked: Settings,
        room: Room,
        problem_code: ProblemCode,
    ) -> None:
        self.reference = reference
        self.arguments = arguments
        self.seeds = seeds
        self.asked = asked
        self.room = room
        self.problem_code = problem_code
        self._models: dict[str, torch.nn.Module] = {}  # of instances to come
        self._known: dict[str, Instance] = {}
        self._bound: Signature | None = None  # of the solutions that these are for: outputs depend on it

    def weights_seed(self, name: str) -> int:
        return self.seeds.for_use("weights", name)

    def begin(self, name: str) -> None:
        """Constructs the reference's model, if there is none: meanwhile others construct theirs."""
        if name not in self._known and name not in self._models:
            with self.problem_code():
                self._models[name] = self.reference.construct(self.arguments, self.weights_seed(name))

    def begun(self, name: str) -> torch.nn.Module:
        return self._models[name]

    def forget_begun(self, name: str) -> None:
        """Of a solution that failed on its way there."""
        self._models.pop(name, None)

    def suits(self, constructed: Constructed) -> bool:
        """Whether a solution constructed like this has the outputs that the arenas were made for."""
        return self._bound is None or self._bound == self._signature(constructed)

    def get(self, name: str, constructed: Constructed) -> Instance:
        """The one that a solution constructed like this is held against."""
        self.begin(name)
        signature = self._bound = self._signature(constructed)
        known = self._known.get(name)
        if known is None:
            known = self._made(name, signature, constructed)
            if known.first and self.room.takes(known.first):
                known.kept = True
                self._known[name] = known
        return known

    def upstream(self, outcome: Outcome) -> list[torch.Tensor]:
        """What a backward pass begins with."""
        generator = torch.Generator(self.reference.device.torch_device).manual_seed(self.seeds.for_use("upstream"))
        return [
            torch.randn(head.shape, generator=generator, device=head.device, dtype=torch.float32).to(head.dtype)
            for head in tree.tensors(outcome.output)
            if head.is_floating_point()
        ]

    def close(self) -> None:
        self._known, self._models = {}, {}

    def _signature(self, constructed: Constructed) -> Signature:
        """Compared with a model as it is constructed: names and shapes, no values."""
        model = next(iter([*(known.case.model for known in self._known.values()), *self._models.values()]))
        loaded = weights.agree(model, constructed)
        return Signature(loaded, tuple(weights.shared_buffers(model, constructed)) if loaded else ())

    def _made(self, name: str, signature: Signature, constructed: Constructed) -> Instance:
        model = self._models.pop(name)
        with self.problem_code():
            if signature.loaded:
                randomise_constants(model, torch.Generator().manual_seed(self.seeds.for_use("constants", name)))
            case = Case(self.reference, model, (), signature.buffers, None, self._tolerance)
            case.full_precision = self.reference.settings.precision == "full"
            given = self.reference.draw(self.seeds.for_use("inputs", name, 0))
            self._complete(case, given, constructed if signature.loaded else None)
            first = truth.prepare(case, given, f"trial 1 of the {name} instance")
            truth.demand_sound(case, first)
        parts = [given, case.upstream] if case.upstream is not None else given
        skeleton = tree.describe(parts, strides=True)
        return Instance(name, signature, case, given, first, first.skeleton, skeleton)

    def _complete(self, case: Case, given: Any, constructed: Constructed | None) -> None:
        """What counts as output beside the returned value: changed buffers, and gradients."""
        outcome = case.reference.run(case.model, given, None)
        case.state = tuple(name for name in outcome.changed if name in case.state)
        if self.reference.settings.grad:
            self._complete_gradients(case, given, outcome, constructed)

    def _complete_gradients(self, case: Case, given: Any, outcome: Outcome, constructed: Constructed | None) -> None:
        case.upstream = self.upstream(outcome)
        outcome = case.reference.run(case.model, given, case.upstream)
        shared = set(constructed.parameters) if constructed else set()
        parameters = {name for name, _ in case.model.named_parameters()}
        case.gradients = tuple(
            name
            for name, grad in outcome.gradients.items()
            if grad is not None and (name not in parameters or name in shared)
        )

    def _tolerance(self, dtype: torch.dtype) -> numerics.Tolerance:
        of, user = self.reference.settings, self.asked
        atol = user.atol if user.atol is not None else of.atol
        rtol = user.rtol if user.rtol is not None else of.rtol
        return numerics.tolerance(dtype, atol, rtol, of.norm_tol)
