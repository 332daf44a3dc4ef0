"""How large values and their differences are, at the ends of what their types hold."""

from __future__ import annotations

import math

import pytest
import torch
from kbench.referee import figures


def test_the_size_of_many_halves_is_beyond_what_a_half_can_hold() -> None:
    """Their norm is; as infinity it would allow every error."""
    assert figures.rms(torch.full((1 << 20,), 100.0, dtype=torch.float16)) == pytest.approx(100.0)


@pytest.mark.parametrize("size", [1e-170, 1e200])
def test_the_size_of_what_has_no_square(size: float) -> None:
    assert figures.rms(torch.full((100,), size, dtype=torch.float64)) == pytest.approx(size)


def test_what_is_finite_but_large_is_finite() -> None:
    large = torch.tensor([1e200, -1e200], dtype=torch.float64)
    assert figures.all_finite(large) and figures.all_finite(torch.empty(0))
    assert not figures.all_finite(torch.tensor([1.0, math.nan]))
    assert not figures.all_finite(torch.tensor([1.0, -math.inf], dtype=torch.float16))
    assert not figures.all_finite(torch.tensor([1.0, math.nan]).to(torch.float8_e4m3fn))


def test_who_disagrees_about_what_is_finite_is_infinitely_far_off() -> None:
    truth, out = torch.tensor([1.0, math.inf, math.nan]), torch.tensor([1.0, math.inf, 2.0])
    assert figures.error(truth, truth) == figures.Error()
    assert figures.error(out, truth) == figures.Error(math.inf, math.inf)
    assert figures.rms(truth) == pytest.approx(math.sqrt(1 / 3))


def test_of_rows_is_the_error_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(4)
    expected = torch.randn(3, 40, 25)
    out = expected + torch.tensor([0.0, 1e-3, 1.0]).reshape(3, 1, 1) * torch.randn_like(expected)
    wanted = [figures.error(left, right) for left, right in zip(out, expected, strict=True)]
    for chunk in (figures.CHUNK, 64):  # as a whole, and in pieces
        monkeypatch.setattr(figures, "CHUNK", chunk)
        for (worst, off, size), one in zip(figures.of_rows(out, expected), wanted, strict=True):
            assert (worst, off / size) == pytest.approx((one.max_abs, one.norm), rel=1e-5)


def test_equal_is_asked_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CHUNK", 64)
    truth = torch.arange(200.0).reshape(20, 10)
    out = truth.clone()
    assert figures.equal(out, truth) and figures.equal(out.T.contiguous().T, truth)
    out[-1, -1] += 1
    assert not figures.equal(out, truth)
    out[-1, -1] = truth[-1, -1] = math.nan
    assert not figures.equal(out, truth)  # NaN takes a careful look
    eight = torch.ones(100).to(torch.float8_e4m3fn)
    assert not figures.equal(eight, eight.clone())  # nor can eight bits be asked
