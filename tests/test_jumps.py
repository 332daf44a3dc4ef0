"""Places where the reference jumps, and nothing else, may differ."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
from conftest import Evaluate
from kbench.errors import ProblemFault
from kbench.referee import figures, jumps, numerics
from kbench.referee.numerics import Tolerance

BOUND = Tolerance(atol=1e-4, rtol=1e-4, norm=1e-3)
# Two sums that are equal in the first of many rows, but for how they are rounded.
PROBLEM = """
import torch
from torch import nn

rows, width = 500, 64


class Model(nn.Module):
    def forward(self, x):
        return x.sum(dim=2).argmax(dim=1)


def get_inputs():
    x = torch.randn(rows, 2, width)
    x[0, 1] = x[0, 0].flip(0)
    return [x]
"""
SOLUTION = """
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        sums = x.sum(dim=2)
        chosen = sums[:, 1] > sums[:, 0] - 1e-6
        return chosen.long()
"""


def written(folder: Path, problem: str, solution: str) -> tuple[Path, Path]:
    (folder / "tied.py").write_text(problem)
    (folder / "solution.py").write_text(solution)
    return folder / "solution.py", folder / "tied.py"


def test_what_is_nearly_equal_may_be_taken_either_way(evaluate: Evaluate, tmp_path: Path) -> None:
    result = evaluate(*written(tmp_path, PROBLEM, SOLUTION))
    assert result.verdict == "passed", result.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "return chosen.long()",
            "chosen[7] = ~chosen[7]\n        return chosen.long()",
        ),  # where nothing is nearly equal
        (
            "return chosen.long()",
            "chosen = chosen.long()\n        chosen[0] = 2\n        return chosen",
        ),  # neither of two
        ("1e-6", "0.5"),  # what is far from equal
    ],
)
def test_and_nothing_else(evaluate: Evaluate, tmp_path: Path, old: str, new: str) -> None:
    result = evaluate(*written(tmp_path, PROBLEM, SOLUTION.replace(old, new)))
    assert result.verdict == "wrong", result.reason


def test_a_choice_between_sums_that_differ_by_their_order_is_excused() -> None:
    """Two experts tie in the first row, as far as float32 tells; the solution adds the products up in 16 parts."""
    generator, off, wrong = torch.Generator().manual_seed(5), 0, 0
    for _ in range(150):
        w = (torch.rand(64, 512, generator=generator) - 0.5) / 11.3
        x = torch.randn(256, 512, generator=generator)
        logits = x[0].double() @ w.double().t()
        first, second = torch.topk(logits, 2).indices
        apart = (w[first] - w[second]).double()
        x[0] = (x[0].double() - apart * ((logits[first] - logits[second]) / apart.dot(apart))).float()

        def chosen(given: list[torch.Tensor], w: torch.Tensor = w) -> list[torch.Tensor]:
            return [torch.topk(given[0] @ w.t(), 2).indices]

        order = torch.randperm(512, generator=generator)
        parts = [x[:, order[part::16]] @ w[:, order[part::16]].t() for part in range(16)]
        out, right = torch.topk(sum(parts[1:], parts[0]), 2).indices, chosen([x])[0]
        if not torch.equal(out, right):
            off += 1
            wrong += jumps.settled(chosen, 0, [x], out, right, BOUND) is None
    assert off > 30 and wrong <= 2  # half as many looks leave five or more


def test_an_output_that_jumps_everywhere_excuses_nothing(evaluate: Evaluate, tmp_path: Path) -> None:
    problem = PROBLEM.replace("x[0, 1] = x[0, 0].flip(0)", "x[:, 1] = x[:, 0].flip(1)")
    result = evaluate(*written(tmp_path, problem, SOLUTION))
    assert result.verdict in ("wrong", "unsupported"), result.reason


@pytest.mark.parametrize("kind", [torch.float32, torch.int64, torch.uint16, torch.uint64, torch.float8_e4m3fn], ids=str)
def test_only_what_was_seen_is_taken_for_right(kind: torch.dtype) -> None:
    """The one goes to the neighbour in every other look."""
    right = torch.zeros(1000, dtype=torch.float64 if kind == torch.float32 else kind)
    right[3] = 7
    other = right.to(kind, copy=True)
    other[3], other[4] = 0, 7
    looks = itertools.cycle([[right.to(kind, copy=True)], [other]])

    def settled(out: torch.Tensor) -> torch.Tensor | None:
        return jumps.settled(lambda _: next(looks), 0, [], out, right, BOUND)

    found = settled(other)
    assert found is not None and torch.equal(found, right)
    wrong = [(3, 8), (4, 9 if kind in figures.UNSIGNED else -1), (9, 7)]
    wrong += [(3, float("nan"))] if kind.is_floating_point else [(3, 5)]
    for place, value in wrong:
        off = right.to(kind, copy=True)
        off[place] = value
        assert settled(off) is None


def larger(given: torch.Tensor) -> list[torch.Tensor]:
    """For each channel, of two rows the one with the larger sum."""
    sums = given.sum(dim=2)
    return [torch.stack([row[one] for row, one in zip(given, sums.argmax(dim=1), strict=True)]).double()]


def test_one_choice_may_move_many_elements_together() -> None:
    """In the first of 32 channels two sums are equal but for how they are rounded; behind them hang 1/32 of all."""
    given = torch.randn(32, 2, 64, generator=torch.Generator().manual_seed(2))
    given[0, 1] = given[0, 0].flip(0)
    (right,) = larger(given)
    first, second = given[0].double()
    other = right.clone()
    other[0] = second if torch.equal(right[0], first) else first
    assert numerics.share_off(other, right, BOUND) > 2 * jumps.MOST

    def settled(out: torch.Tensor) -> torch.Tensor | None:
        return jumps.settled(lambda moved: larger(moved[0]), 0, [given], out, right, BOUND)

    found = settled(other)
    assert found is not None and numerics.within(found, right, BOUND)
    elsewhere, half, between = other.clone(), other.clone(), other.clone()
    elsewhere[5, 7] += 0.01
    half[0, :32] = right[0, :32]
    between[0] = (first + second) / 2
    assert [settled(out) for out in (elsewhere, half, between)] == [None, None, None]


def test_a_reference_that_does_not_take_moved_inputs_excuses_nothing() -> None:
    right = torch.zeros(1000, dtype=torch.float64)
    out = right.float()
    out[5] = 1.0

    def look(_: object) -> list[torch.Tensor]:
        raise ProblemFault("out of range", "choose others")

    assert jumps.settled(look, 0, [], out, right, BOUND) is None


def test_inputs_are_moved_in_their_last_places_and_keep_what_they_are() -> None:
    given = [torch.rand(1000) + 0.5, torch.arange(5), torch.randn(9).half(), (torch.rand(99) < 0.1).float(), 3]
    given += [torch.rand(100).sort()[0]]
    real, *rest = jumps.moved(given, torch.Generator().manual_seed(1))
    assert 1e-7 < float((1 - real / given[0]).mean()) < 1e-6
    assert bool((real <= given[0]).all())
    for new, old in zip(rest, given[1:], strict=True):
        assert new is old or new == old
