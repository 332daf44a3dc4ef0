"""Checks one side against the truth: fresh inputs, transformed inputs, unchanged inputs, every output."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, get_args

import torch

from kbench import tree
from kbench.errors import ProblemFault
from kbench.records import Mismatch, Precision
from kbench.referee import figures, inputs, jumps, mismatch, numerics, ruling, structure
from kbench.referee.figures import Error
from kbench.referee.nest import same
from kbench.referee.numerics import Tolerance
from kbench.referee.reference import Outcome, Reference
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.side import Side

PRECISIONS: tuple[Precision, ...] = get_args(Precision)


@dataclass
class Case:
    """An instance of the reference with what its calls are judged by."""

    reference: Reference
    model: torch.nn.Module
    gradients: tuple[str, ...]  # whose gradients are outputs
    state: tuple[str, ...]  # buffers that the reference changes and the solution has
    upstream: list[torch.Tensor] | None
    asked: Callable[[torch.dtype], Tolerance]
    full_precision: bool = False

    def expected(self, outcome: Outcome, with_state: bool = True) -> dict[str, Any]:
        return outcome.value(self.gradients, self.state if with_state else ())

    def settled(
        self,
        number: int,
        given: Any,
        upstream: list[torch.Tensor] | None,
        out: torch.Tensor,
        right: torch.Tensor,
        bound: Tolerance,
    ) -> torch.Tensor | None:
        """An output that is off, as it is where the reference jumps; None where it is wrong."""

        def look(moved: Any) -> list[torch.Tensor]:
            return tree.tensors(self.expected(self.reference.run(self.model, moved, upstream)))

        return jumps.settled(look, number, given, out, right, bound)


@dataclass
class Findings:
    """What the checks of one side have seen so far."""

    trials: int = 0
    max_abs: float = 0.0
    norm: float = 0.0
    reference: Error = field(default_factory=Error)
    truth: str | None = None
    precision: Precision | None = None
    transforms: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    bounds: list[Tolerance] = field(default_factory=list)  # per output, the loosest of the trials
    own_error: list[Error] = field(default_factory=list)  # per output, of the reference itself


@dataclass(frozen=True)
class Trial:
    """Inputs with all that is expected of a call on them."""

    name: str
    given: Any
    skeleton: tree.Skeleton
    truth: list[torch.Tensor]
    inputs_after: list[torch.Tensor]
    bounds: list[Tolerance]
    own_error: list[Error]
    precision: str
    exact: list[float | None]  # relative norm of the error in true float32, for outputs of that type


def prepare(case: Case, given: Any, name: str) -> Trial:
    """Runs the reference at its default precision and as the truth, and sets the bounds between them."""
    native = case.reference.run(case.model, given, case.upstream)
    exact, precision = case.reference.truth(case.model, given, case.upstream)
    value, wide = case.expected(native), case.expected(exact)
    outs, truth = tree.tensors(value), tree.tensors(wide)
    if [out.shape for out in outs] != [right.shape for right in truth]:
        truth, precision = outs, "float32"
    judged = [_judgeable(out, right) for out, right in zip(outs, truth, strict=True)]
    truth, own = [right for right, _ in judged], [error for _, error in judged]
    bounds = [
        numerics.loosened(case.asked(out.dtype), figures.rms(right), Error() if case.full_precision else error)
        for out, right, error in zip(outs, truth, own, strict=True)
    ]
    fine = case.reference.exact(case.model, given, case.upstream, native)
    known = own if fine is native else [None] * len(own)
    parts = zip(tree.tensors(case.expected(fine)), truth, known, strict=True)
    in_float32 = [_float32_error(out, right, error) for out, right, error in parts]
    return Trial(name, given, tree.describe(value), truth, native.inputs, bounds, own, precision, in_float32)


def _float32_error(out: torch.Tensor, right: torch.Tensor, known: Error | None) -> float | None:
    """Its relative norm, for a float32 output whose truth is in float64."""
    if out.dtype != torch.float32 or right.dtype != torch.float64 or out.shape != right.shape:
        return None
    norm = (known or figures.error(out, right)).norm
    return norm if math.isfinite(norm) else None


def _judgeable(out: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, Error]:
    """The truth and the reference's own error; the reference itself where the truth would judge falsely.

    Whole numbers that come out of rounding or comparing differ honestly in float64; and where the reference's own
    type overflows, its error is infinite and would allow everything.
    """
    if not figures.is_inexact(out):
        return out, Error()
    own = figures.error(out, right)
    return (right, own) if math.isfinite(own.max_abs + own.norm) else (out, Error())


def is_sound(trial: Trial) -> bool:
    """Whether the truth says something."""
    return not any(bool(right.isnan().any()) for right in trial.truth if figures.is_inexact(right))


def demand_sound(case: Case, trial: Trial) -> None:
    source = case.reference.source
    if not is_sound(trial):
        raise ProblemFault(
            f"{source.path}: the reference yields NaN on its own inputs",
            "choose inputs on which it is defined",
        )
    once, again = (case.expected(case.reference.run(case.model, trial.given, case.upstream)) for _ in range(2))
    strange = [leaf.kind for leaf in tree.leaves(trial.skeleton) if isinstance(leaf, tree.Other)]
    if strange:
        raise ProblemFault(
            f"{source.path}: the reference returns a {strange[0]}, which cannot be compared",
            "return tensors, numbers, None and nests of them",
        )
    if not tree.describe(once) == tree.describe(again) == trial.skeleton:
        raise Stopped(Ruling("unsupported", "the reference returns other shapes on equal inputs"))
    for out, right in zip(tree.tensors(once), tree.tensors(again), strict=True):
        # Not by the trial's bounds: random outputs have loosened those already.
        if not numerics.within(out, right, numerics.loosened(case.asked(out.dtype), figures.rms(right), Error())):
            reason = "the reference differs from itself on equal inputs; random outputs cannot be checked"
            raise Stopped(Ruling("unsupported", reason))


def transform(case: Case, given: Any, name: str, seed: int) -> Trial | None:
    """The trial on transformed inputs; None where there is nothing to change, or the reference does not take them."""
    before = tree.tensors(given)
    generator = torch.Generator(case.reference.device.torch_device).manual_seed(seed)
    changed = inputs.transformed(before, name, generator)
    if all(new is old for new, old in zip(changed, before, strict=True)):
        return None
    value = tree.rebuild(tree.describe(given), iter(changed))
    try:
        trial = prepare(case, value, name)
    except ProblemFault:
        return None
    # `_judgeable` leaves the reference's own outputs where those overflow.
    finite = all(figures.all_finite(right) for right in trial.truth if figures.is_inexact(right))
    return trial if finite else None


def run(side: Side, case: Case, trial: Trial, slot: int, word: int, findings: Findings) -> None:
    """One checked call; raises Stopped with the first thing that is wrong."""
    arena = side.arena
    assert arena is not None
    given = [*tree.tensors(trial.given), *(case.upstream or ())]
    span = slice(slot, slot + 1)
    arena.write([tensor.unsqueeze(0) for tensor in given], span)
    arena.poison(span, word)
    side.device.synchronize()
    returned = side.call(slot, case.state)
    off = structure.difference(trial.skeleton, returned.outputs, "result")
    if off:
        raise Stopped(ruling.of_mismatch(Mismatch(output="structure", trial=trial.name, summary=off)))
    if not returned.copied:
        raise Stopped(Ruling("unsupported", "the length of an output varies more than kbench has room for"))
    taken = [stack[0] for stack in arena.take(span)]
    _judge_outputs(case, trial, fitted(taken, trial.truth), findings)
    judge_inputs(case, trial, [view[slot] for view in arena.inputs])
    findings.trials += 1


def fitted(taken: list[torch.Tensor], truth: list[torch.Tensor]) -> list[torch.Tensor]:
    """Outputs whose length varies lie at the beginning of a place that is larger."""
    if any(right.numel() > out.numel() for out, right in zip(taken, truth, strict=True)):
        raise Stopped(Ruling("unsupported", "the length of an output varies more than kbench has room for"))
    return [
        out if out.shape == right.shape else out.flatten()[: right.numel()].reshape(right.shape)
        for out, right in zip(taken, truth, strict=True)
    ]


def _judge_outputs(case: Case, trial: Trial, taken: list[torch.Tensor], findings: Findings) -> None:
    custom = case.reference.settings.check
    names = output_names(trial.skeleton)
    parts = zip(names, taken, trial.truth, trial.bounds, trial.own_error, trial.exact, strict=True)
    for number, (name, out, right, bound, own, exact) in enumerate(parts):
        found = figures.error(out, right)
        if custom is None and not numerics.within(out, right, bound, found):
            settled = case.settled(number, trial.given, case.upstream, out, right, bound)
            if settled is None:
                raise Stopped(ruling.of_mismatch(mismatch.explain(out, right, bound, name, trial.name)))
            found = figures.error(settled, right)
        findings.max_abs, findings.norm = max(findings.max_abs, found.max_abs), max(findings.norm, found.norm)
        if exact is not None and custom is None:
            _note_likeness(case, findings, numerics.likeness(found.norm, exact, own.norm), name, trial.name)
    if custom is not None:
        judge_custom(case, trial.given, tree.rebuild(_output_of(trial.skeleton), iter(taken)), trial.name)
    note(findings, trial)


def _note_likeness(case: Case, findings: Findings, like: Precision, name: str, trial: str) -> None:
    if like != "float32" and case.full_precision:
        summary = f"{name} is {like}, and the problem asks for full precision"
        raise Stopped(ruling.of_mismatch(Mismatch(output=name, trial=trial, summary=summary)))
    known = findings.precision or "float32"
    findings.precision = max(known, like, key=PRECISIONS.index)


def judge_custom(case: Case, given: Any, output: Any, trial: str) -> None:
    """The problem's own `check(inputs, outputs)`: False or an AssertionError means wrong."""
    check = case.reference.settings.check
    assert check is not None
    with case.reference.running("in check()"):
        try:
            good, why = check(given, output), "the problem's check says no"
        except AssertionError as error:
            good, why = False, f"the problem's check says: {str(error).strip() or 'no'}"
    if good is not None and not good:
        raise Stopped(ruling.of_mismatch(Mismatch(output="output", trial=trial, summary=why)))


def judge_inputs(case: Case, trial: Trial, found: list[torch.Tensor]) -> None:
    before = [*tree.tensors(trial.given), *(case.upstream or ())]
    after = [*trial.inputs_after, *(case.upstream or ())]
    names = tree.names(tree.describe(trial.given), "inputs")
    names = [n for n, leaf in zip(names, tree.leaves(tree.describe(trial.given)), strict=True) if is_tensor(leaf)]
    names += [f"output gradient {number}" for number in range(len(case.upstream or ()))]
    for name, got, old, new in zip(names, found, before, after, strict=True):
        off = changed_input(case, name, got, old, new)
        if off:
            raise Stopped(ruling.of_mismatch(Mismatch(output=name, trial=trial.name, summary=off)))


def changed_input(case: Case, name: str, got: torch.Tensor, old: torch.Tensor, new: torch.Tensor) -> str | None:
    """An input must come back as it was, unless the reference changes it: then alike."""
    if old is new or same(old, new):
        return None if same(got, old) else f"it changes its input {name}, which the reference leaves as it is"
    bound = numerics.loosened(case.asked(new.dtype), figures.rms(new), Error())
    return None if numerics.within(got, new, bound) else f"it leaves {name} other than the reference does"


def note(findings: Findings, trial: Trial) -> None:
    """Keeps the loosest bounds of the trials: the timed calls are judged by them."""
    worst = max((error for error in trial.own_error), key=lambda error: error.max_abs, default=Error())
    if worst.max_abs >= findings.reference.max_abs:
        findings.reference = worst
    findings.truth = trial.precision
    if not findings.bounds:
        findings.bounds, findings.own_error = list(trial.bounds), list(trial.own_error)
        return
    pairs = zip(findings.bounds, trial.bounds, strict=True)
    findings.bounds = [Tolerance(max(a.atol, b.atol), a.rtol, max(a.norm, b.norm)) for a, b in pairs]
    errors = zip(findings.own_error, trial.own_error, strict=True)
    findings.own_error = [Error(max(a.max_abs, b.max_abs), max(a.norm, b.norm)) for a, b in errors]


def output_names(skeleton: tree.Skeleton) -> list[str]:
    """`output[0]`, `gradients['inputs[0]']`: a name for each tensor."""
    assert isinstance(skeleton, tree.Nest)
    names = []
    for key, child in zip(skeleton.keys, skeleton.children, strict=True):
        listed = zip(tree.names(child, key), tree.leaves(child), strict=True)
        names += [name for name, leaf in listed if is_tensor(leaf)]
    return names


def is_tensor(leaf: object) -> bool:
    return isinstance(leaf, tree.TensorSpec)


def _output_of(skeleton: tree.Skeleton) -> tree.Skeleton:
    assert isinstance(skeleton, tree.Nest)
    return skeleton.children[0]
