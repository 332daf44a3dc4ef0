"""The problem as the referee runs it: inputs, models, expected outputs and the truth."""

from __future__ import annotations

import contextlib
import copy
import random
import time
from collections.abc import Iterator
from typing import Any

import torch

from kbench import problem, tree, units
from kbench.device.interface import Device
from kbench.errors import DoesNotFit, KbenchError, MachineFault, ProblemFault
from kbench.problem import ProblemSettings, Source
from kbench.records import Record

NO_MEMORY = ("can't allocate memory", "out of memory", "Cannot allocate memory")
CONSTANT_WEIGHT_SPREAD = 0.25


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
        return running(self.source, self.device, when)

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
        if any(not isinstance(key, str) for key in _keys(given)):
            raise self._error("get_inputs() returns a dict with keys that are no strings", "use strings as keys")
        return moved(list(given), self.device.torch_device)

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
        self, model: torch.nn.Module, inputs: Any, upstream: list[torch.Tensor] | None, wait: bool = True
    ) -> Outcome:
        """One call on copies of the inputs: outputs, gradients, changed buffers and changed inputs.

        Copies are spared once the first call has shown that the reference leaves its inputs alone. Without `wait`
        the device may still be at it: for many calls in a row, once some were waited for.
        """
        given = inputs if self._changes_inputs is False and not self.settings.grad else cloned(inputs)
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
        output = cloned(output) if before and not self.settings.grad else output
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
            self._changes_inputs = not all(map(same, before, after))
        return after if self._changes_inputs else before

    def truth(self, model: torch.nn.Module, inputs: Any, upstream: list[torch.Tensor] | None) -> tuple[Outcome, str]:
        """The reference in float64 where it fits and can, else in float32 with TF32 off."""
        with exact_products():
            try:
                with self.running("in float64"):
                    wide = copy.deepcopy(model).double()
                heads = None if upstream is None else [widened(part) for part in upstream]
                return self.run(wide, widened_inputs(inputs), heads), "float64"
            except (MachineFault, ProblemFault):
                self.device.hand_back()
                return self.run(model, inputs, upstream), "float32"

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
            self._uses_tf32 = not all(left.shape == right.shape and same(left, right) for left, right in pairs)
        return fine

    def seconds_per_call(self, model: torch.nn.Module, inputs: Any, upstream: list[torch.Tensor] | None) -> float:
        """A first idea of how long a call takes, the second of two."""
        self.run(model, inputs, upstream)
        given = cloned(inputs)
        began = time.monotonic()
        self.run(model, given, upstream)
        return time.monotonic() - began

    def _with_gradients(
        self, model: torch.nn.Module, given: Any, upstream: list[torch.Tensor] | None
    ) -> tuple[Any, Any]:
        names = tree.names(tree.describe(given), "inputs")
        leaves: dict[str, torch.Tensor] = {}
        for name, value in zip(names, _leaf_values(given), strict=True):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                leaves[name] = value.requires_grad_()
        targets = {**leaves, **dict(model.named_parameters())}
        output = model(*given)
        heads = [head for head in tree.tensors(output) if head.is_floating_point()]
        if upstream is None:
            return moved(output, None), {}
        pairs = [(head, grad.to(head.dtype)) for head, grad in zip(heads, upstream, strict=True) if head.requires_grad]
        if not pairs:
            raise self._error("grad=True, but no output depends on anything that has a gradient", "set grad=False")
        found = torch.autograd.grad(
            [h for h, _ in pairs], list(targets.values()), [g for _, g in pairs], allow_unused=True
        )
        return moved(output, None), dict(zip(targets, found, strict=True))

    def _error(self, what: str, fix: str) -> ProblemFault:
        return ProblemFault(f"{self.source.path}: {what}", fix)


@contextlib.contextmanager
def running(source: Source, device: Device, when: str) -> Iterator[None]:
    """What the problem's own code raises becomes the problem's fault, or the machine's where memory ran out."""
    try:
        yield
    except KbenchError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  the problem's top: its file may raise anything
        raise _fault(source, device, error, when) from None


def out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(part in str(error) for part in NO_MEMORY)


def _fault(source: Source, device: Device, error: BaseException, when: str) -> KbenchError:
    text = str(error).strip().split("\n")[0][:300]
    if out_of_memory(error):
        return DoesNotFit(
            f"{source.path} is too large for this {device.kind} {when}: {text}",
            f"{units.size(device.free_bytes())} are free; choose a smaller --workload",
        )
    if isinstance(error, SystemExit):
        return ProblemFault(f"{source.path}: it ends the process {when}", "a problem file must not exit")
    fix = "mend the problem file"
    if "CUDA" in text and device.kind == "cpu":
        fix = "draw without .cuda(); kbench moves inputs and models to the device"
    where = f"{source.path}{_own_line(error, source.path)}"
    return ProblemFault(f"{where}: {when}: {type(error).__name__}: {text}", fix)


class Outcome:
    """What one call yields: the returned value, and everything else that counts as output."""

    def __init__(
        self,
        output: Any,
        gradients: dict[str, Any],
        buffers: dict[str, torch.Tensor],
        changed: tuple[str, ...],
        inputs: list[torch.Tensor],
    ) -> None:
        self.output = output
        self.gradients = gradients
        self.buffers = buffers
        self.changed = changed
        self.inputs = inputs

    @property
    def tensors(self) -> list[torch.Tensor]:
        gradients = [gradient for gradient in self.gradients.values() if gradient is not None]
        return [*tree.tensors(self.output), *gradients, *self.buffers.values()]

    def value(self, gradients: tuple[str, ...], state: tuple[str, ...]) -> dict[str, Any]:
        """As a worker that was asked for these gradients and buffers describes it."""
        value: dict[str, Any] = {"output": self.output}
        if gradients:
            value["gradients"] = {name: self.gradients.get(name) for name in gradients}
        if state:
            value["state"] = {name: self.buffers[name] for name in state}
        return value


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


def moved(value: Any, device: torch.device | None) -> Any:
    """The same nest with detached tensors, on the device where one is named."""
    return _mapped(value, lambda tensor: tensor.detach() if device is None else tensor.detach().to(device))


def cloned(value: Any) -> Any:
    return _mapped(value, lambda tensor: tensor.detach().clone())


def widened_inputs(value: Any) -> Any:
    return _mapped(value, lambda tensor: widened(tensor.detach()))


def widened(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


class Flags(Record, frozen=True):
    """Process-wide settings that a problem file may change."""

    dtype: Any
    grad: bool
    threads: int
    deterministic: bool
    precision: str
    cudnn: tuple[bool, bool, bool]

    @classmethod
    def now(cls) -> Flags:
        cudnn = torch.backends.cudnn
        return cls(
            dtype=torch.get_default_dtype(),
            grad=torch.is_grad_enabled(),
            threads=torch.get_num_threads(),
            deterministic=torch.are_deterministic_algorithms_enabled(),
            precision=torch.get_float32_matmul_precision(),
            cudnn=(cudnn.allow_tf32, cudnn.benchmark, cudnn.deterministic),
        )

    def restore(self) -> None:
        torch.set_default_dtype(self.dtype)
        torch.set_grad_enabled(self.grad)
        torch.set_num_threads(self.threads)
        if torch.are_deterministic_algorithms_enabled() != self.deterministic:
            torch.use_deterministic_algorithms(self.deterministic)  # imports the whole of inductor
        torch.set_float32_matmul_precision(self.precision)
        own = torch.backends.cudnn
        own.allow_tf32, own.benchmark, own.deterministic = self.cudnn


@contextlib.contextmanager
def own_flags() -> Iterator[None]:
    """Puts back the settings that a problem file changed: the next one must not run under them."""
    before = Flags.now()
    try:
        yield
    finally:
        before.restore()


@contextlib.contextmanager
def exact_products() -> Iterator[None]:
    """TF32 off."""
    matmul, cudnn = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = matmul, cudnn


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Equal bit by bit as far as NaN goes: NaN equals NaN."""
    if left.dtype.is_floating_point and left.dtype.itemsize == 1:  # nothing compares those
        return left.dtype == right.dtype and torch.equal(left.view(torch.uint8), right.view(torch.uint8))
    if torch.equal(left, right):
        return True
    if not (left.is_floating_point() or left.is_complex()):
        return False
    return bool(((left == right) | (left.isnan() & right.isnan())).all())


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(child, change) for key, child in value.items()}
    if isinstance(value, list | tuple):
        children = [_mapped(child, change) for child in value]
        return children if isinstance(value, list) else tuple(children)
    return value


def _leaf_values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for child in value for leaf in _leaf_values(child)]
    return [value]


def _keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *(key for child in value.values() for key in _keys(child))]
    if isinstance(value, list | tuple):
        return [key for child in value for key in _keys(child)]
    return []


def _own_line(error: BaseException, path: str) -> str:
    frame, line = error.__traceback__, ""
    while frame:
        if frame.tb_frame.f_code.co_filename == path:
            line = f":{frame.tb_lineno}"
        frame = frame.tb_next
    return line
