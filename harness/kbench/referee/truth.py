"""The truth about a call: the reference as it is and as exactly as can be had, and what lies between the two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from kbench import tree
from kbench.errors import ProblemFault
from kbench.referee import figures, inputs, numerics
from kbench.referee.case import Case
from kbench.referee.figures import Error
from kbench.referee.numerics import Tolerance
from kbench.referee.ruling import Ruling, Stopped


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
    drawn: bool  # by the problem, as what timed calls are given is derived from such inputs; else changed on purpose


def prepare(case: Case, given: Any, name: str, drawn: bool = True) -> Trial:
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
    return Trial(name, given, tree.describe(value), truth, native.inputs, bounds, own, precision, in_float32, drawn)


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
        trial = prepare(case, value, name, drawn=False)
    except ProblemFault:
        return None
    # `_judgeable` leaves the reference's own outputs where those overflow.
    finite = all(figures.all_finite(right) for right in trial.truth if figures.is_inexact(right))
    return trial if finite else None
