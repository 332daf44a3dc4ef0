"""What the outputs of a series are held to, round by round."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import torch

from kbench import tree
from kbench.records import TIMED_CALL, Mismatch
from kbench.referee import check, mismatch, numerics, ruling, structure
from kbench.referee.arena import Layout
from kbench.referee.busy import Watch
from kbench.referee.case import Case
from kbench.referee.check import Findings
from kbench.referee.contents import Contents
from kbench.referee.nest import same
from kbench.referee.ruling import Stopped
from kbench.referee.side import Run, Side
from kbench.referee.size import Size
from kbench.settings import EAGER

# Rows are compared in groups: small ones together, so that few steps do; large ones while they are in the cache.
GROUP_BYTES = {"cpu": 2 * 2**20, "cuda": 256 * 2**20}


@dataclass(frozen=True)
class Done:
    """What one side handed in for a round: its outputs, row by row of the span."""

    side: Side
    run: Run
    taken: list[torch.Tensor]
    span: slice


# The value that is right, and inputs after the call where the reference may have changed them.
Expected = tuple[object, list[torch.Tensor]]


class Contest:
    """The sides of one series, and the expectations they are held to."""

    def __init__(
        self,
        case: Case,
        findings: Findings,
        base: list[torch.Tensor],
        skeleton: tree.Skeleton,
        size: Size,
        layout: Layout,
        watch: Watch,
    ) -> None:
        self.case = case
        self.findings = findings
        self.size = size
        self.watch = watch
        self.device = case.reference.device
        self.group = max(1, GROUP_BYTES[self.device.kind] // max(1, layout.output_bytes))
        self.usual = tree.without(layout.outputs, "state")  # what a worker need not describe
        self.plain = any(isinstance(leaf, tree.Plain) for leaf in tree.leaves(self.usual))
        self.contents = Contents(case, base, skeleton, size.calls)

    def verify(self, stacks: list[torch.Tensor], done: list[Done]) -> None:
        """Every output of the round against the reference's, or eager's, on the same contents; inputs unchanged."""
        for one in done:
            if not one.run.untouched(one.taken):
                raise one.side.blamed(_late_outputs())
        varying = self.plain or any(one.run.finished.odd for one in done)
        count = done[0].span.stop - done[0].span.start
        teller = None if varying else self._teller(done)
        spot = secrets.randbelow(count)
        for first in range(0, count, self.group):
            rows = range(first, min(first + self.group, count))
            if teller and self._agree(done, teller, rows, stacks, spot):
                continue
            expected = [self._reference(stacks, row) for row in rows]
            for one in done:
                try:
                    self._hold(one, expected, rows, stacks, varying)
                except Stopped as stop:
                    raise one.side.blamed(stop) from None

    def _teller(self, done: list[Done]) -> Done | None:
        """The side that ran the reference itself on these contents: running it again takes as long as the timed calls.

        Only where its outputs were copied into memory of our own: on a GPU they are not.
        """
        if self.device.kind != "cpu" or not self.case.reference.leaves_inputs:
            return None
        return next((one for one in done if one.side.name == EAGER), None)

    def _agree(self, done: list[Done], teller: Done, rows: range, stacks: list[torch.Tensor], spot: int) -> bool:
        """Whether all have what the teller has, and that is right where it is looked at: in one call of the round.

        Where they do not, the reference is run for all of these calls, and says who is wrong.
        """
        told: list[Expected] = [
            (tree.rebuild(self.usual, iter([stack[row] for stack in teller.taken])), []) for row in rows
        ]
        try:
            for one in done:
                if one is teller and self.case.reference.settings.check is None:
                    self._verify_inputs(one, told, rows, stacks)
                else:
                    self._hold(one, told, rows, stacks)
            if spot in rows:
                self._hold(teller, [self._reference(stacks, spot)], range(spot, spot + 1), stacks)
        except Stopped:
            return False
        return True

    def _hold(
        self, one: Done, expected: list[Expected], rows: range, stacks: list[torch.Tensor], varying: bool = False
    ) -> None:
        """Raises Stopped where a side's outputs or inputs are other than expected."""
        if varying or not _alike([value for value, _ in expected]):
            self._verify_varying(one, expected, rows, stacks)
        else:
            self._verify_alike(one, expected, rows, stacks)
        self._verify_inputs(one, expected, rows, stacks)

    def _reference(self, stacks: list[torch.Tensor], row: int) -> Expected:
        outcome = self.case.reference.run(self.case.model, *self.contents.call(stacks, row), wait=False)
        return self.case.expected(outcome, with_state=False), outcome.inputs

    def _bounds(self) -> list[numerics.Tolerance]:
        pairs = zip(self.findings.bounds, self.findings.own_error, strict=True)
        return [numerics.widened(bound, own) for bound, own in pairs]

    def _verify_alike(self, one: Done, expected: list[Expected], rows: range, stacks: list[torch.Tensor]) -> None:
        if self.case.reference.settings.check is not None:
            for row in rows:
                self._judge_custom(one, self.contents.call(stacks, row)[0], row)
            return
        leaves = [tree.tensors(value) for value, _ in expected]
        names = check.output_names(tree.describe(expected[0][0]))
        for number, (name, bound) in enumerate(zip(names, self._bounds(), strict=False)):
            right = torch.stack([row[number] for row in leaves]) if len(rows) > 1 else leaves[0][number].unsqueeze(0)
            out = one.taken[number][rows.start : rows.stop]
            for row, good in enumerate(numerics.rows_within(out, right, bound)):
                if not good:
                    self._demand_jumps(number, stacks, rows[row], out[row], right[row], bound, name)

    def _judge_custom(self, one: Done, given: object, row: int) -> None:
        assert one.side.arena is not None
        outputs = one.side.arena.layout.outputs
        assert isinstance(outputs, tree.Nest)
        output = tree.rebuild(outputs.children[0], iter([stack[row] for stack in one.taken]))
        check.judge_custom(self.case, given, output, TIMED_CALL)

    def _verify_varying(self, one: Done, expected: list[Expected], rows: range, stacks: list[torch.Tensor]) -> None:
        """Calls whose outputs differ in shape, one by one."""
        for row, (value, _) in zip(rows, expected, strict=True):
            wanted, truth = tree.describe(value), tree.tensors(value)
            got = one.run.finished.odd.get(str(one.span.start + row), self.usual)
            off = structure.difference(wanted, got, "result")
            if off:
                raise _wrong(Mismatch(output="structure", trial=TIMED_CALL, summary=off))
            if self.case.reference.settings.check is not None:
                self._judge_custom(one, self.contents.call(stacks, row)[0], row)
                continue
            outs = check.fitted([stack[row] for stack in one.taken[: len(truth)]], truth)
            parts = zip(check.output_names(wanted), outs, truth, self._bounds(), strict=False)
            for number, (name, out, right, bound) in enumerate(parts):
                if not numerics.within(out, right, bound):
                    self._demand_jumps(number, stacks, row, out, right, bound, name)

    def _demand_jumps(
        self,
        number: int,
        stacks: list[torch.Tensor],
        row: int,
        out: torch.Tensor,
        right: torch.Tensor,
        bound: numerics.Tolerance,
        name: str,
    ) -> None:
        """What is off must be where the reference jumps."""
        given, upstream = self.contents.call(stacks, row)
        if self.case.settled(number, given, upstream, out, right, bound) is None:
            raise _wrong(mismatch.explain(out, right, bound, name, TIMED_CALL))

    def _verify_inputs(self, one: Done, expected: list[Expected], rows: range, stacks: list[torch.Tensor]) -> None:
        assert one.side.arena is not None
        here = slice(one.span.start + rows.start, one.span.start + rows.stop)
        leaves = self.case.reference.leaves_inputs
        for number, (view, stack) in enumerate(zip(one.side.arena.inputs, stacks, strict=True)):
            old = stack[rows.start : rows.stop]
            after = [inputs_after[number] for _, inputs_after in expected if number < len(inputs_after)]
            changed = not leaves and not all(map(same, after, old))
            off = check.changed_input(
                self.case, f"inputs[{number}]", view[here], old, torch.stack(after) if changed else old
            )
            if off:
                raise _wrong(Mismatch(output=f"inputs[{number}]", trial=TIMED_CALL, summary=off))


def _late_outputs() -> Stopped:
    summary = "its outputs changed after it said that it was done: it answers before the work is finished"
    return _wrong(Mismatch(output="output", trial=TIMED_CALL, summary=summary))


def _wrong(what: Mismatch) -> Stopped:
    return Stopped(ruling.of_mismatch(what))


def _alike(values: list[object]) -> bool:
    first = tree.describe(values[0])
    return all(tree.describe(value) == first for value in values[1:])
