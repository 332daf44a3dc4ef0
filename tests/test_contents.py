"""What timed calls are given: other contents each time, as far as the reference takes them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from kbench import problem, problem_settings, tree
from kbench.device.cpu import Cpu
from kbench.referee import contents as contents_module
from kbench.referee import numerics
from kbench.referee.case import Case
from kbench.referee.contents import Contents
from kbench.referee.reference import Reference

CALLS = 3
PROBLEM = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if not ({takes}):
            raise ValueError
        return x + 1


def get_inputs():
    return [{drawn}]
"""
NORMAL = "torch.randn(8)"
# Sums to one, whatever is drawn; so no value of it may be changed by itself, nor all by one factor.
PROBABILITIES = "torch.softmax(torch.randn(8), 0)"


def made(folder: Path, takes: str = "True", drawn: str = NORMAL) -> Contents:
    path = folder / "one.py"
    path.write_text(PROBLEM.format(takes=takes, drawn=drawn))
    source = problem.read(path, "one")
    reference = Reference(source, problem_settings.read(source, problem.load(source)), "default", Cpu())
    case = Case(reference, reference.construct([], 1), (), (), None, lambda d: numerics.tolerance(d, None, None, None))
    given = reference.draw(2)
    return Contents(case, tree.tensors(given), tree.describe(given), CALLS)


@pytest.mark.parametrize(
    ("takes", "drawn", "how"),
    [
        ("True", NORMAL, "fresh"),
        # All of its values may become smaller by one factor.
        ("abs(float(x[1] / x[0]) - 4) < 1e-3", "2.0 ** torch.tensor([0, 2, 1, 3, 5, 4, 7, 6]) / 3", "scaled"),
        ("abs(float(x.sum()) - 1) < 1e-5", PROBABILITIES, "redrawn"),
    ],
)
def test_they_are_as_fresh_as_the_reference_takes(takes: str, drawn: str, how: str, tmp_path: Path) -> None:
    found = made(tmp_path, takes, drawn)
    assert found.how == how
    (first,), _ = found.fresh(1)
    (second,), _ = found.fresh(2)
    assert first.shape == (CALLS, 8)
    assert not torch.equal(first, second) and not torch.equal(first[0], first[1])
    assert torch.equal(first, found.fresh(1)[0][0])
    for row in range(CALLS):
        found.case.reference.run(found.case.model, *found.call([first], row))


def test_rounds_without_work_get_the_same_again_where_they_are_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made(tmp_path)
    assert found.idle(1)[0] is found.idle(2)[0]
    monkeypatch.setattr(contents_module, "IDLE_BYTES", 0)
    large = made(tmp_path)
    assert large.idle(1)[0] is not large.idle(2)[0]
