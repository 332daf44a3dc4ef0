"""Looks for what makes a problem easy to cheat: trivial answers that pass, outputs that say little, idle parameters."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator

import torch

from kbench import tree, units
from kbench.device.interface import Device
from kbench.errors import KbenchError
from kbench.problem import Source
from kbench.problem_settings import ProblemSettings
from kbench.protocol import Constructed
from kbench.records import Complaint, LintCheck, Settings
from kbench.referee import check, figures, inputs, numerics
from kbench.referee.exam import Exam
from kbench.referee.instance import Instance
from kbench.referee.numerics import Tolerance
from kbench.referee.reference import randomise_constants
from kbench.referee.ruling import Stopped
from kbench.referee.truth import Trial
from kbench.stats import median

LEAST_S = {"cpu": 50e-6, "cuda": 20e-6}
CALLS = 5
Answer = Callable[[Trial], list[torch.Tensor] | None]  # None where there is no such answer


def complaints(source: Source, of_problem: ProblemSettings, workload: str, device: Device) -> tuple[Complaint, ...]:
    """What two draws of weights and inputs agree on: in one of them chance may leave an output as it was."""
    found = tuple(Linter(source, of_problem, workload, device).complaints())
    if all(one.allowed for one in found):
        return found
    again = {one.check for one in Linter(source, of_problem, workload, device).complaints()}
    return tuple(one for one in found if one.check in again)


class Linter:
    """One problem in one workload, with one draw of weights and inputs."""

    def __init__(self, source: Source, of_problem: ProblemSettings, workload: str, device: Device) -> None:
        self.allowed = of_problem.lint
        self.device = device
        self.exam = Exam(source, of_problem, workload, device, Settings(trials=2), contextlib.nullcontext)
        self.instance = self._instance()
        self.trials = [self.exam.trials.get(self.instance, number) for number in range(2)]
        self.trials += [trial for _, trial in self.exam.trials.transformed(self.instance) if trial is not None]

    def complaints(self) -> Iterator[Complaint]:
        for name, text in self._found():
            yield Complaint(check=name, text=text, allowed=self.allowed.get(name))

    def _found(self) -> Iterator[tuple[LintCheck, str]]:
        for name, text, answer in self._answers():
            if self._passes(answer):
                yield name, f"a solution passes that {text}"
        yield from self._idle_parameters()
        yield from self._weak_outputs()
        yield from self._one_sided_inputs()
        yield from self._short_work()

    def _answers(self) -> Iterator[tuple[LintCheck, str, Answer]]:
        yield "zeros", "returns zeros", lambda trial: [torch.zeros_like(right) for right in trial.truth]
        yield "constant", "returns one constant", lambda trial: [_filled(right, _first) for right in trial.truth]
        yield "mean", "returns the mean everywhere", lambda trial: [_filled(right, _mean) for right in trial.truth]
        yield "copy", "returns its first input", self._first_input
        yield "rows", "leaves out one row of a hundred", lambda trial: [_without_rows(right) for right in trial.truth]
        yield "coarse", "computes in bfloat16", self._coarse
        yield "weights", "takes other weights than it is given", self._other_weights

    def _passes(self, answer: Answer) -> bool:
        for trial in self.trials:
            outputs = answer(trial)
            if outputs is None or not self._accepts(trial, outputs):
                return False
        return True

    def _accepts(self, trial: Trial, outputs: list[torch.Tensor]) -> bool:
        case = self.instance.case
        if case.reference.settings.check is not None:
            value = tree.rebuild(trial.skeleton, iter(outputs))
            try:
                check.judge_custom(case, trial.given, value["output"], trial.name)
            except Stopped:
                return False
            return True
        parts = enumerate(zip(outputs, trial.truth, trial.bounds, strict=True))
        return all(
            out.shape == right.shape
            and (
                numerics.within(out, right, bound)
                or case.settled(number, trial.given, case.upstream, out, right, bound) is not None
            )
            for number, (out, right, bound) in parts
        )

    def _first_input(self, trial: Trial) -> list[torch.Tensor] | None:
        given = tree.tensors(trial.given)
        if not given or any(given[0].shape != right.shape for right in trial.truth):
            return None
        return [given[0].to(right.dtype) for right in trial.truth]

    def _coarse(self, trial: Trial) -> list[torch.Tensor] | None:
        """Only where something finer than that is returned."""
        if any(leaf.dtype not in ("float32", "float64") for leaf in tree.specs(trial.skeleton)):
            return None
        model = copy.deepcopy(self.instance.case.model).bfloat16()
        given = tree.rebuild(tree.describe(trial.given), map(_coarser, tree.tensors(trial.given)))
        heads = self.instance.case.upstream
        return self._run(model, given, None if heads is None else [_coarser(head) for head in heads], trial)

    def _other_weights(self, trial: Trial) -> list[torch.Tensor] | None:
        model = self._model(self.exam.instances.weights_seed("lint"))
        if not any(True for _ in model.parameters()):
            return None
        return self._run(model, trial.given, self.instance.case.upstream, trial)

    def _idle_parameters(self) -> Iterator[tuple[LintCheck, str]]:
        trial = self.trials[0]
        for name, parameter in self.instance.case.model.named_parameters():
            model = copy.deepcopy(self.instance.case.model)
            with torch.no_grad():
                changed = model.get_parameter(name)
                changed.copy_(changed.flatten().roll(1).view_as(changed) * -2 + 1)
            outputs = self._run(model, trial.given, self.instance.case.upstream, trial)
            if parameter.numel() and outputs is not None and self._accepts(trial, outputs):
                yield "idle", f"parameter {name} has no effect"

    def _weak_outputs(self) -> Iterator[tuple[LintCheck, str]]:
        first, *others = self.trials
        names = check.output_names(first.skeleton)
        for number, (name, right, bound) in enumerate(zip(names, first.truth, first.bounds, strict=True)):
            if right.numel() > 1 and bool((right == right.reshape(-1)[0]).all()):
                yield "flat", f"{name} is the same everywhere"
            if not figures.is_inexact(right) or not right.numel():
                continue
            # Of fresh inputs alone chance may change too little, as where they only choose among a few slopes.
            if all(_is_alike(other.truth[number], right, bound) for other in others):
                yield "unmoved", f"{name} does not depend on the inputs"
            if float(figures.computable(right).abs().max()) <= bound.atol:
                yield "small", f"{name} is below the absolute tolerance everywhere ({bound.atol:.3g})"

    def _one_sided_inputs(self) -> Iterator[tuple[LintCheck, str]]:
        given = tree.tensors(self.trials[0].given)
        for number, tensor in enumerate(given):
            if not tensor.is_floating_point() or tensor.numel() < 2 or inputs.is_integral(tensor):
                continue
            low, high = float(tensor.min()), float(tensor.max())
            if low >= 0 or high <= 0:
                yield "one-sided", f"input {number} never changes its sign ({low:.3g} to {high:.3g})"

    def _short_work(self) -> Iterator[tuple[LintCheck, str]]:
        case = self.instance.case
        seconds = median(
            [
                self.exam.reference.seconds_per_call(case.model, self.trials[0].given, case.upstream, ideas=1)
                for _ in range(CALLS)
            ]
        )
        if seconds < LEAST_S[self.device.kind]:
            yield "short", f"a call takes {units.duration(seconds * 1e3)}, too short to time well"

    def _run(
        self, model: torch.nn.Module, given: object, heads: list[torch.Tensor] | None, trial: Trial
    ) -> list[torch.Tensor] | None:
        """Its outputs as the truth has them; None where it cannot run like this."""
        case = self.instance.case
        try:
            found = tree.tensors(case.expected(self.exam.reference.run(model, given, heads)))
        except KbenchError:
            return None
        if len(found) != len(trial.truth):
            return None
        return [out.to(right.dtype) for out, right in zip(found, trial.truth, strict=True)]

    def _instance(self) -> Instance:
        """The reference held against a solution that is constructed as it is."""
        self.exam.instances.begin("first")
        model = self.exam.instances.begun("first")
        parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
        described = map(tree.describe_tensor, (*parameters.values(), *buffers.values()))
        specs = tuple(spec for spec in described if isinstance(spec, tree.TensorSpec))
        return self.exam.instances.get("first", Constructed(tuple(parameters), tuple(buffers), specs))

    def _model(self, seed: int) -> torch.nn.Module:
        model = self.exam.reference.construct(self.exam.arguments, seed)
        randomise_constants(model, torch.Generator().manual_seed(seed))
        return model


def _filled(right: torch.Tensor, choose: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    return choose(right).expand_as(right) if right.numel() else right


def _is_alike(other: torch.Tensor, right: torch.Tensor, bound: Tolerance) -> bool:
    return other.shape == right.shape and numerics.within(other, right, bound)


def _first(right: torch.Tensor) -> torch.Tensor:
    return right.reshape(-1)[0]


def _mean(right: torch.Tensor) -> torch.Tensor:
    return figures.computable(right).mean().to(right.dtype) if figures.is_inexact(right) else _first(right)


def _without_rows(right: torch.Tensor) -> torch.Tensor:
    """The last hundredth of the rows, at least one, left as zeros."""
    out = right.clone()
    if out.dim():
        out[-max(1, out.shape[0] // 100) :] = 0
    else:
        out.zero_()
    return out


def _coarser(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.bfloat16() if tensor.is_floating_point() else tensor
