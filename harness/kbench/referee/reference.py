"""The problem as the referee runs it: inputs, models, expected outputs and the truth."""

from __future__ import annotations

import contextlib
import copy
import math
import random
import time
from typing import Any

import torch

from kbench import problem, tree
from kbench.device.interface import Device
from kbench.errors import MachineFault, ProblemFault
from kbench.problem import Source
from kbench.problem_settings import ProblemSettings
from kbench.referee import blame, nest
from kbench.referee.outcome import Outcome
from kbench.referee.switches import exact_products

CONSTANT_WEIGHT_SPREAD = 0.25
IDEAS, IDEAS_S = 8, 0.02  # calls that say how long one takes, as long as they are short


class Reference:
    """The problem's module under one workload."""

    def __init__(self, source: Source, settings: ProblemSettings, workload: str, device: Device) -> None:
        self.source = source
        self.settings = settings
        self.device = device
        with self.running("while it is imported"):
            self.module = problem.load(source, settings.workloads.get(workload, {}))
        self._draws_on_device = device.kind == "cuda"
        self._changes_inputs: bool | None = None  # not known before the first run
        self._uses_tf32: bool | None = None  # not known before it ran without

    def running(self, when: str) -> contextlib.AbstractContextManager[None]:
        """Around every line of the problem's own code."""
        return blame.running(self.source, self.device, when)

    def arguments(self) -> list[Any]:
        """What `Model` is constructed with."""
        make = getattr(self.module, "get_init_inputs", None)
        with self.running("in get_init_inputs()"):
            given = make() if make else []
        if not isinstance(given, list | tuple):
            raise self._error(f"get_init_inputs() returns a {type(given).__name__}", "return a list")
        return list(given)

    def draw(self, seed: int) -> Any:
        """Fresh inputs on the device, as a list."""
        seed_all(seed)
        with self.running("in get_inputs()"):
            given = self._get_inputs()
        if not isinstance(given, list | tuple):
            raise self._error(f"get_inputs() returns a {type(given).__name__}", "return a list of inputs")
        skeleton = tree.describe(given)
        for name, leaf in zip(tree.names(skeleton, "inputs"), tree.leaves(skeleton), strict=True):
            if isinstance(leaf, tree.Other):
                raise self._error(f"{name} is a {leaf.kind}", "inputs are tensors, numbers, None and nests of them")
            if isinstance(leaf, tree.TensorSpec) and leaf.device == "cuda" and self.device.kind == "cpu":
                raise self._error(
                    f"{name} is on CUDA, the device is the CPU", "draw without .cuda(); kbench moves inputs"
                )
        if any(not isinstance(key, str) for key in nest.keys(given)):
            raise self._error("get_inputs() returns a dict with keys that are no strings", "use strings as keys")
        return nest.moved(list(given), self.device.torch_device)

    def _get_inputs(self) -> Any:
        if not self._draws_on_device:
            return self.module.get_inputs()
        # Drawn by the GPU itself: on the CPU a large problem spends most of its evaluation drawing.
        try:
            with self.device.torch_device:
                return self.module.get_inputs()
        except (RuntimeError, TypeError, ValueError) as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            self._draws_on_device = False
            return self.module.get_inputs()

    def construct(self, arguments: list[Any], seed: int) -> torch.nn.Module:
        seed_all(seed)
        with self.running("while Model is constructed"):
            model = self.module.Model(*copy.deepcopy(arguments))
            if not isinstance(model, torch.nn.Module):
                raise self._error("Model is no torch.nn.Module", "derive it from torch.nn.Module")
            return model.to(self.device.torch_device)

    def run(
        self,
        model: torch.nn.Module,
        inputs: Any,
        upstream: list[torch.Tensor] | None,
        wait: bool = True,
        own: bool = False,
    ) -> Outcome:
        """One call on copies of the inputs: outputs, gradients, changed buffers and changed inputs.

        Copies are spared once the first call has shown that the reference leaves its inputs alone, and where the inputs
        are this call's `own`. Without `wait` the device may still be at it: for many calls in a row, once some were
        waited for.
        """
        spared = own or (self.leaves_inputs and not self.settings.grad)
        given = inputs if spared else nest.cloned(inputs)
        before = {name: value.detach().clone() for name, value in model.named_buffers()}
        gradients: dict[str, Any] = {}
        with self.running("in the reference's forward"):
            if upstream is None and not self.settings.grad:
                with torch.no_grad():
                    output = model(*given)
            else:
                output, gradients = self._with_gradients(model, given, upstream)
        if wait:
            self.device.synchronize()
        # What is returned may share memory with a buffer that is restored below.
        output = nest.cloned(output) if before and not self.settings.grad else output
        after = {name: value.detach().clone() for name, value in model.named_buffers() if name in before}
        changed = tuple(name for name, value in after.items() if not torch.equal(before[name], value))
        with torch.no_grad():
            for name, value in model.named_buffers():
                if name in changed:
                    value.copy_(before[name])
        return Outcome(output, gradients, after, changed, self._inputs_after(inputs, given))

    def _inputs_after(self, inputs: Any, given: Any) -> list[torch.Tensor]:
        before, after = tree.tensors(inputs), [tensor.detach() for tensor in tree.tensors(given)]
        if self._changes_inputs is None:
            self._changes_inputs = not all(map(nest.same, before, after))
        return after if self._changes_inputs else before

    @property
    def leaves_inputs(self) -> bool:
        """As its first call showed."""
        return self._changes_inputs is False

    def truth(self, model: torch.nn.Module, inputs: Any, upstream: list[torch.Tensor] | None) -> tuple[Outcome, str]:
        """The reference in float64 where it fits and can, else in float32 with TF32 off."""
        with exact_products():
            wide = self._in_float64(model, inputs, upstream)
            if wide is not None:
                return wide, "float64"
            self.device.hand_back()
            return self.run(model, inputs, upstream), "float32"

    def _in_float64(self, model: torch.nn.Module, inputs: Any, upstream: list[torch.Tensor] | None) -> Outcome | None:
        # What was raised holds all that was in float64: it must be gone before anything else is tried.
        try:
            with self.running("in float64"):
                wide = copy.deepcopy(model).double()
            heads = None if upstream is None else [nest.widened(part) for part in upstream]
            return self.run(wide, nest.widened_inputs(inputs), heads)
        except (MachineFault, ProblemFault):
            return None

    def exact(
        self, model: torch.nn.Module, inputs: Any, upstream: list[torch.Tensor] | None, native: Outcome
    ) -> Outcome:
        """The reference with TF32 off; as it ran already where that changes nothing."""
        allowed = torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32
        if not allowed or self.device.kind == "cpu" or self._uses_tf32 is False:
            return native
        with exact_products():
            fine = self.run(model, inputs, upstream)
        if self._uses_tf32 is None:
            pairs = zip(native.tensors, fine.tensors, strict=False)
            self._uses_tf32 = not all(left.shape == right.shape and nest.same(left, right) for left, right in pairs)
        return fine

    def seconds_per_call(
        self, model: torch.nn.Module, inputs: Any, upstream: list[torch.Tensor] | None, ideas: int = IDEAS
    ) -> float:
        """A first idea of how long a call takes: the quickest of a few after the first.

        Without the copies of its inputs: of half a gigabyte they were a quarter of a training step.
        """
        self.run(model, inputs, upstream)
        took = [math.inf]
        began = time.monotonic()
        while len(took) <= ideas and (len(took) == 1 or time.monotonic() < began + IDEAS_S):
            given = nest.cloned(inputs)
            self.device.synchronize()
            start = time.monotonic()
            self.run(model, given, upstream, own=True)
            took.append(time.monotonic() - start)
        return min(took)

    def _with_gradients(
        self, model: torch.nn.Module, given: Any, upstream: list[torch.Tensor] | None
    ) -> tuple[Any, Any]:
        names = tree.names(tree.describe(given), "inputs")
        leaves: dict[str, torch.Tensor] = {}
        for name, value in zip(names, nest.leaf_values(given), strict=True):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                leaves[name] = value.requires_grad_()
        targets = {**leaves, **dict(model.named_parameters())}
        output = model(*given)
        heads = [head for head in tree.tensors(output) if head.is_floating_point()]
        if upstream is None:
            return nest.moved(output, None), {}
        pairs = [(head, grad.to(head.dtype)) for head, grad in zip(heads, upstream, strict=True) if head.requires_grad]
        if not pairs:
            raise self._error("grad=True, but no output depends on anything that has a gradient", "set grad=False")
        found = torch.autograd.grad(
            [h for h, _ in pairs], list(targets.values()), [g for _, g in pairs], allow_unused=True
        )
        return nest.moved(output, None), dict(zip(targets, found, strict=True))

    def _error(self, what: str, fix: str) -> ProblemFault:
        return ProblemFault(f"{self.source.path}: {what}", fix)


def seed_all(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    import numpy

    numpy.random.seed(seed % 2**32)


def randomise_constants(model: torch.nn.Module, generator: torch.Generator) -> None:
    """Weights that are all one value, such as a LayerNorm's, say nothing: random ones take their place."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.numel() > 1 and weight.is_floating_point() and bool((weight == weight.flatten()[0]).all()):
                noise = torch.randn(weight.shape, generator=generator, device="cpu").to(weight)
                weight.add_(noise * CONSTANT_WEIGHT_SPREAD)
