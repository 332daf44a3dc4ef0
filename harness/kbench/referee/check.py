"""Checks one side against the truth: structure, every output, inputs that must not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

import torch

from kbench import tree
from kbench.records import Mismatch, Precision
from kbench.referee import figures, mismatch, numerics, ruling, structure
from kbench.referee.case import Case
from kbench.referee.figures import Error
from kbench.referee.nest import same
from kbench.referee.numerics import Tolerance
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.side import Side
from kbench.referee.truth import Trial

PRECISIONS: tuple[Precision, ...] = get_args(Precision)


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
    bounds: list[Tolerance] = field(default_factory=list)  # per output, for the timed calls
    own_error: list[Error] = field(default_factory=list)  # per output, of the reference itself there


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
    if not returned.copied and arena.has_room(returned.outputs):
        raise Stopped(ruling.of_protocol("outputs that have room and are not handed in"))
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
    """Keeps the loosest bounds of the trials that are like timed calls, which are judged by them."""
    worst = max((error for error in trial.own_error), key=lambda error: error.max_abs, default=Error())
    if worst.max_abs >= findings.reference.max_abs:
        findings.reference = worst
    findings.truth = trial.precision
    if not findings.bounds:
        findings.bounds, findings.own_error = list(trial.bounds), list(trial.own_error)
    if not trial.drawn:
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
