from __future__ import annotations

import math

import pytest
import torch
from kbench.referee import figures, mismatch, numerics
from kbench.referee.figures import Error
from kbench.referee.numerics import Tolerance

STRICT = Tolerance(1e-4, 1e-4, 1e-4)
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rounding_is_within_and_a_coarser_type_is_not(dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    truth = torch.randn(4096, dtype=torch.float64)
    bound = numerics.tolerance(dtype, None, None, None)
    assert numerics.within(truth.to(dtype), truth, bound)
    coarser = {torch.float64: torch.float32, torch.float32: torch.float16, torch.float16: torch.bfloat16}
    if dtype in coarser:
        assert not numerics.within(truth.to(coarser[dtype]).to(dtype), truth, bound)


def test_zeros_never_pass_for_small_outputs() -> None:
    truth = torch.full((100,), 1e-6)
    assert not numerics.within(torch.zeros(100), truth, STRICT)


def test_one_element_far_off_is_not_hidden_by_a_million_good_ones() -> None:
    truth = torch.ones(1_000_000)
    out = truth.clone()
    out[123_456] = 1.01
    assert not numerics.within(out, truth, STRICT)


@pytest.mark.parametrize("length", [100, figures.LONG])
def test_of_several_outputs_the_one_that_is_off_is_named(length: int) -> None:
    truth = torch.randn(3, length)
    out = truth.clone()
    out[1, length // 2] -= 0.1
    assert numerics.rows_within(out, truth, STRICT) == [True, False, True]


def test_what_is_too_small_for_the_quick_look_gets_the_careful_one() -> None:
    """Squares of 1e-25 vanish in float32: of a truth without a norm nothing can be said by it."""
    truth = torch.full((2, 1000), 1e-25)
    assert numerics.rows_within(torch.stack((truth[0], -5 * truth[1])), truth, STRICT) == [True, False]
    assert numerics.rows_within(torch.zeros(2, 8), torch.zeros(2, 8), STRICT) == [True, True]


def test_an_output_whose_square_no_float_holds_is_off() -> None:
    truth = torch.tensor([1.0], dtype=torch.float64)
    assert not numerics.within(1e200 * truth, truth, STRICT)
    assert numerics.rows_within(1e200 * truth.unsqueeze(0), truth.unsqueeze(0), STRICT) == [False]


@pytest.mark.parametrize("dtype, size", [(torch.float64, 1e-170), (torch.float64, 1e200), (torch.complex64, 3e38)])
def test_near_the_ends_of_a_type_right_is_right_and_wrong_is_wrong(dtype: torch.dtype, size: float) -> None:
    truth = torch.full((2, 100), size * (1 + 1j) if dtype.is_complex else size, dtype=dtype)
    bound = Tolerance(size * 1e-4, 1e-4, 1e-4)
    assert numerics.within(truth.clone(), truth, bound)
    assert numerics.rows_within(torch.stack((truth[0], truth[1] / 2)), truth, bound) == [True, False]
    assert not numerics.within(torch.zeros_like(truth), truth, bound)


@pytest.mark.parametrize(
    ("out", "truth", "good"),
    [
        ([math.nan, 1.0], [math.nan, 1.0], True),
        ([1.0, 1.0], [math.nan, 1.0], False),
        ([math.nan, 1.0], [1.0, 1.0], False),
        ([math.inf, 1.0], [math.inf, 1.0], True),
        ([-math.inf, 1.0], [math.inf, 1.0], False),
        ([math.inf, 1.0], [1.0, 1.0], False),
        ([1e30, 1.0], [math.inf, 1.0], False),
    ],
)
def test_what_is_not_finite_must_be_in_the_same_places(out: list[float], truth: list[float], good: bool) -> None:
    left, right = torch.tensor(out), torch.tensor(truth)
    assert numerics.within(left, right, STRICT) is good
    assert numerics.rows_within(left.unsqueeze(0), right.unsqueeze(0), STRICT) == [good]


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.int8, torch.bool, torch.uint8, torch.uint16, torch.uint64], ids=str
)
def test_integers_and_booleans_are_exact(dtype: torch.dtype) -> None:
    truth = torch.tensor([[0, 1, 1], [0, 1, 0]]).to(dtype)
    out = truth.clone()
    out[1, 2] = 1
    assert numerics.within(truth.clone(), truth, STRICT) and not numerics.within(out, truth, STRICT)
    assert numerics.rows_within(out, truth, STRICT) == [True, False]


def test_eight_bit_floats_are_judged_though_nothing_computes_with_them() -> None:
    truth = torch.linspace(1.0, 16.0, 64).to(torch.float8_e4m3fn)
    out = (2 * truth.float()).to(torch.float8_e4m3fn)
    bound = numerics.loosened(numerics.tolerance(truth.dtype, None, None, None), figures.rms(truth), Error())
    assert numerics.within(truth, truth, bound) and not numerics.within(out, truth, bound)
    assert "2 times what is expected" in mismatch.explain(out, truth, bound, "output", "trial 1").summary


def test_empty_and_scalar_outputs() -> None:
    empty = torch.empty(0, 3)
    assert numerics.within(empty, empty, STRICT)
    assert figures.error(empty, empty) == Error()
    assert numerics.rows_within(empty.unsqueeze(0), empty.unsqueeze(0), STRICT) == [True]
    assert numerics.within(torch.tensor(1.0), torch.tensor(1.0), STRICT)
    assert not numerics.within(torch.tensor(1.1), torch.tensor(1.0), STRICT)


def test_complex_outputs() -> None:
    truth = torch.randn(16, dtype=torch.complex64)
    assert numerics.within(truth.clone(), truth, STRICT)
    both = torch.stack((truth, truth.conj()))
    assert numerics.rows_within(both, torch.stack((truth, truth)), STRICT) == [True, False]
    assert not numerics.within(truth.conj().resolve_conj(), truth, STRICT)


def test_bounds_are_never_tighter_than_twice_the_references_own_error() -> None:
    bound = numerics.loosened(STRICT, 1.0, Error(max_abs=0.01, norm=0.002))
    assert (bound.atol, bound.norm) == (0.02, 0.004)
    assert numerics.loosened(STRICT, 1.0, Error()) == STRICT


def test_atol_grows_with_the_size_of_the_truth_and_never_shrinks() -> None:
    assert numerics.loosened(STRICT, 100.0, Error()).atol == pytest.approx(1e-2)
    assert numerics.loosened(STRICT, 0.01, Error()).atol == 1e-4


def test_what_the_user_asks_wins() -> None:
    assert numerics.tolerance(torch.float32, 0.5, None, None) == Tolerance(0.5, 1e-4, 1e-4)


def test_stacked_rows_agree_with_rows_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    expected = torch.randn(8, 50, 7)
    out = expected + 1e-6 * torch.randn_like(expected)
    out[2, 3, 4] += 1
    out[5] *= 1.01
    out[6:] = expected[6:]
    out[7, -1, -1] += 1
    wanted = [numerics.within(left, right, STRICT) for left, right in zip(out, expected, strict=True)]
    assert numerics.rows_within(out, expected, STRICT) == wanted == [True, True, False, True, True, False, True, False]
    monkeypatch.setattr(figures, "CHUNK", 64)  # the path for rows that are too large for one piece
    assert numerics.rows_within(out, expected, STRICT) == wanted


def rounded(tensor: torch.Tensor, bits: int) -> torch.Tensor:
    """With so many bits of mantissa left."""
    drop = 23 - bits
    return ((tensor.view(torch.int32) + (1 << drop - 1)) & ~((1 << drop) - 1)).view(torch.float32)


@pytest.mark.parametrize("length", [16, 512, 8192])
def test_what_a_product_was_computed_in_shows(length: int) -> None:
    torch.manual_seed(length)
    left, right = torch.randn(64, length), torch.randn(length, 64)
    truth = left.double() @ right.double()
    exact = figures.error(left @ right, truth).norm

    def like(bits: int) -> str:
        return numerics.likeness(figures.error(rounded(left, bits) @ rounded(right, bits), truth).norm, exact, exact)

    assert numerics.likeness(exact, exact, exact) == "float32"
    assert (like(10), like(7)) == ("tf32-like", "bf16-like")
    parts = sum(a @ b for a, b in zip(left.chunk(4, 1), right.chunk(4, 0), strict=True))
    assert numerics.likeness(figures.error(parts, truth).norm, exact, exact) == "float32"


def test_cancelling_is_no_lower_precision() -> None:
    torch.manual_seed(0)
    x = torch.randn(4096) + 1e4
    truth = x.double() - x.double().mean()
    exact = figures.error(x - x.mean(), truth).norm
    other = figures.error(x - x.flip(0).cumsum(0)[-1] / x.numel(), truth).norm
    assert exact > 1e-5 and numerics.likeness(other, exact, exact) == "float32"
    # More than chance makes of it, but no more than roundings of float32 that are magnified as much.
    assert numerics.likeness(4.5 * exact, exact, exact) == "float32" != numerics.likeness(4.5 * exact, 1e-7, exact)
    assert numerics.likeness(0.3, exact, exact) != "float32"
    # Where the reference itself, with TF32, is as far off, nothing coarser is claimed.
    assert numerics.likeness(0.02, 1e-7, 0.01) == "tf32-like"
    assert numerics.likeness(0.02, 1e-7, 3e-4) == "bf16-like"
