from __future__ import annotations

import math

import pytest
import torch
from kbench.referee import numerics
from kbench.referee.numerics import Error, Tolerance

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


@pytest.mark.parametrize("length", [100, numerics.LONG])
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
    large = torch.tensor([3e38 + 3e38j])
    assert not numerics.within(large / 2, large, STRICT)


def test_the_size_of_many_halves_is_beyond_what_a_half_can_hold() -> None:
    """Their norm is; as infinity it would allow every error."""
    assert numerics.rms(torch.full((1 << 20,), 100.0, dtype=torch.float16)) == pytest.approx(100.0)


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


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.bool, torch.uint8])
def test_integers_and_booleans_are_exact(dtype: torch.dtype) -> None:
    truth = torch.tensor([0, 1, 1, 0]).to(dtype)
    assert numerics.within(truth.clone(), truth, STRICT)
    assert not numerics.within(1 - truth.to(torch.int8), truth.to(torch.int8), STRICT)


def test_eight_bit_floats_are_judged_though_nothing_computes_with_them() -> None:
    truth = torch.linspace(1.0, 16.0, 64).to(torch.float8_e4m3fn)
    out = (2 * truth.float()).to(torch.float8_e4m3fn)
    bound = numerics.loosened(numerics.tolerance(truth.dtype, None, None, None), numerics.rms(truth), Error())
    assert numerics.within(truth, truth, bound) and numerics.all_finite(truth)
    assert not numerics.all_finite(torch.tensor([1.0, math.nan]).to(torch.float8_e4m3fn))
    assert not numerics.within(out, truth, bound)
    assert "2 times what is expected" in numerics.explain(out, truth, bound, "output", "trial 1").summary


def test_what_is_finite_but_large_is_finite() -> None:
    large = torch.tensor([1e200, -1e200], dtype=torch.float64)
    assert numerics.all_finite(large) and numerics.all_finite(torch.empty(0))
    assert not numerics.all_finite(torch.tensor([1.0, math.nan]))
    assert not numerics.all_finite(torch.tensor([1.0, -math.inf], dtype=torch.float16))


def test_empty_and_scalar_outputs() -> None:
    empty = torch.empty(0, 3)
    assert numerics.within(empty, empty, STRICT)
    assert numerics.error(empty, empty) == Error()
    assert numerics.rows_within(empty.unsqueeze(0), empty.unsqueeze(0), STRICT) == [True]
    assert numerics.within(torch.tensor(1.0), torch.tensor(1.0), STRICT)
    assert not numerics.within(torch.tensor(1.1), torch.tensor(1.0), STRICT)


def test_complex_outputs() -> None:
    truth = torch.randn(16, dtype=torch.complex64)
    assert numerics.within(truth.clone(), truth, STRICT)
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
    wanted = [numerics.within(left, right, STRICT) for left, right in zip(out, expected, strict=True)]
    assert numerics.rows_within(out, expected, STRICT) == wanted == [True, True, False, True, True, False, True, True]
    monkeypatch.setattr(numerics, "CHUNK", 64)  # the path for rows that are too large for one piece
    assert numerics.rows_within(out, expected, STRICT) == wanted


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
    mismatch = numerics.explain(change(truth), truth, STRICT, "output", "trial 1")  # type: ignore[operator]
    assert says in mismatch.summary
    assert mismatch.wrong and mismatch.total == 128 and mismatch.index is not None


def test_a_mismatch_names_the_worst_element_with_both_values() -> None:
    truth = torch.zeros(4, 4)
    out = truth.clone()
    out[1, 2], out[3, 0] = 0.5, -7.0
    mismatch = numerics.explain(out, truth, STRICT, "output", "trial 1")
    assert (mismatch.wrong, mismatch.index, mismatch.got, mismatch.expected) == (2, (3, 0), -7.0, 0.0)


def test_unravelled_is_what_torch_says() -> None:
    places = torch.tensor([0, 7, 59])
    ours = numerics.unravelled(places, torch.Size((3, 4, 5)))
    assert [part.tolist() for part in ours] == [part.tolist() for part in torch.unravel_index(places, (3, 4, 5))]


def rounded(tensor: torch.Tensor, bits: int) -> torch.Tensor:
    """With so many bits of mantissa left."""
    drop = 23 - bits
    return ((tensor.view(torch.int32) + (1 << drop - 1)) & ~((1 << drop) - 1)).view(torch.float32)


@pytest.mark.parametrize("length", [16, 512, 8192])
def test_what_a_product_was_computed_in_shows(length: int) -> None:
    torch.manual_seed(length)
    left, right = torch.randn(64, length), torch.randn(length, 64)
    truth = left.double() @ right.double()
    exact = numerics.error(left @ right, truth).norm

    def like(bits: int) -> str:
        return numerics.likeness(numerics.error(rounded(left, bits) @ rounded(right, bits), truth).norm, exact, exact)

    assert numerics.likeness(exact, exact, exact) == "float32"
    assert (like(10), like(7)) == ("tf32-like", "bf16-like")
    parts = sum(a @ b for a, b in zip(left.chunk(4, 1), right.chunk(4, 0), strict=True))
    assert numerics.likeness(numerics.error(parts, truth).norm, exact, exact) == "float32"


def test_cancelling_is_no_lower_precision() -> None:
    torch.manual_seed(0)
    x = torch.randn(4096) + 1e4
    truth = x.double() - x.double().mean()
    exact = numerics.error(x - x.mean(), truth).norm
    other = numerics.error(x - x.flip(0).cumsum(0)[-1] / x.numel(), truth).norm
    assert exact > 1e-5 and numerics.likeness(max(exact, min(other, 3 * exact)), exact, exact) == "float32"
    assert numerics.likeness(0.3, exact, exact) != "float32"
    # Where the reference itself, with TF32, is as far off, nothing coarser is claimed.
    assert numerics.likeness(0.02, 1e-7, 0.01) == "tf32-like"
    assert numerics.likeness(0.02, 1e-7, 3e-4) == "bf16-like"
