"""Places where the reference jumps, and nothing else, may differ."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from conftest import Evaluate
from kbench.referee import jumps
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
        chosen = sums[:, 1] > sums[:, 0] - 1e-5
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
        ("1e-5", "0.5"),  # what is far from equal
    ],
)
def test_and_nothing_else(evaluate: Evaluate, tmp_path: Path, old: str, new: str) -> None:
    result = evaluate(*written(tmp_path, PROBLEM, SOLUTION.replace(old, new)))
    assert result.verdict == "wrong", result.reason


def test_an_output_that_jumps_everywhere_excuses_nothing(evaluate: Evaluate, tmp_path: Path) -> None:
    problem = PROBLEM.replace("x[0, 1] = x[0, 0].flip(0)", "x[:, 1] = x[:, 0].flip(1)")
    result = evaluate(*written(tmp_path, problem, SOLUTION))
    assert result.verdict in ("wrong", "unsupported"), result.reason


def test_only_what_was_seen_is_taken_for_right() -> None:
    right = torch.zeros(1000, dtype=torch.float64)
    right[3] = 1.0
    seen = [right.clone(), right.clone()]
    seen[1][3], seen[1][4] = 0.0, 1.0  # the one goes to the neighbour
    other = seen[1].float()
    assert torch.equal(jumps.settled(other, right, BOUND, seen), right)
    for place, value in ((3, 1.5), (4, -0.5), (9, 0.5), (3, float("nan"))):
        off = right.float()
        off[place] = value
        assert not torch.equal(jumps.settled(off, right, BOUND, seen), right)


def test_inputs_are_moved_in_their_last_places_alone() -> None:
    given = [torch.rand(1000) + 0.5, torch.arange(5), (torch.rand(1000) + 0.5).half(), 3]
    real, whole, half, number = jumps.moved(given, torch.Generator().manual_seed(1))
    assert 1e-7 < float((real / given[0] - 1).abs().mean()) < 1e-6
    assert 1e-4 < float((half.float() / given[2].float() - 1).abs().mean()) < 1e-2
    assert torch.equal(whole, given[1]) and number == 3
