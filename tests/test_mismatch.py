"""What is said of outputs that are off."""

from __future__ import annotations

import math

import pytest
import torch
from kbench.referee import mismatch
from kbench.referee.numerics import Tolerance

STRICT = Tolerance(1e-4, 1e-4, 1e-4)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda y: torch.zeros_like(y), "every element is zero"),
        (lambda y: torch.full_like(y, math.nan), "every element is NaN"),
        (lambda y: torch.full_like(y, 3.0), "every element is the same"),
        (lambda y: y * 2, "the output is 2 times what is expected"),
        (lambda y: torch.cat([y[:12], y[12:] + 1]), "indices 12 to 15 of 16 along dimension 0"),
        (lambda y: y + 1, "all elements are off"),
    ],
)
def test_a_mismatch_names_its_pattern(change: object, says: str) -> None:
    torch.manual_seed(2)
    truth = torch.randn(16, 8)
    found = mismatch.explain(change(truth), truth, STRICT, "output", "trial 1")  # type: ignore[operator]
    assert says in found.summary
    assert found.wrong and found.total == 128 and found.index is not None


def test_a_mismatch_names_the_worst_element_with_both_values() -> None:
    truth = torch.zeros(4, 4)
    out = truth.clone()
    out[1, 2], out[3, 0] = 0.5, -7.0
    found = mismatch.explain(out, truth, STRICT, "output", "trial 1")
    assert (found.wrong, found.index, found.got, found.expected) == (2, (3, 0), -7.0, 0.0)


def test_unravelled_is_what_torch_says() -> None:
    places = torch.tensor([0, 7, 59])
    ours = mismatch.unravelled(places, torch.Size((3, 4, 5)))
    assert [part.tolist() for part in ours] == [part.tolist() for part in torch.unravel_index(places, (3, 4, 5))]
