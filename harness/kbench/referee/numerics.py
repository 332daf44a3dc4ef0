"""Whether outputs are near enough to the truth. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from kbench.records import Precision
from kbench.referee import figures
from kbench.referee.figures import Error

DEFAULTS = {
    "float64": (1e-8, 1e-9),
    "float32": (1e-4, 1e-4),
    "float16": (2e-3, 2e-3),
    "bfloat16": (1e-2, 1e-2),
}
COARSE = (0.1, 0.1)  # eight-bit floats
SMALL = 1e-15  # far above where squares vanish in float32, as those of 1e-23 do
# A product whose factors were rounded to TF32 is off by 3e-4 in relative norm, to bfloat16 by 2e-3, at any length.
FLOAT32 = 2.0**-24
BELOW_FLOAT32, BELOW_TF32 = 5e-6, 8e-4
MANY_SUMS = 16  # how far long sums alone take float32 from its unit
CHANCE = 4.0


@dataclass(frozen=True)
class Tolerance:
    atol: float
    rtol: float
    norm: float

    def room(self, truth: torch.Tensor) -> torch.Tensor:
        """How far each element may be off."""
        return self.atol + self.rtol * truth.abs()


def tolerance(dtype: torch.dtype, atol: float | None, rtol: float | None, norm: float | None) -> Tolerance:
    """What was asked for, else the defaults of the type."""
    both, of_norm = DEFAULTS.get(str(dtype.to_real()).removeprefix("torch."), COARSE)
    return Tolerance(
        atol=both if atol is None else atol,
        rtol=both if rtol is None else rtol,
        norm=of_norm if norm is None else norm,
    )


def loosened(asked: Tolerance, truth_rms: float, reference: Error) -> Tolerance:
    """Never tighter than twice the reference's own error; `atol` grows with the size of the truth."""
    own = reference if math.isfinite(reference.max_abs + reference.norm) else Error()
    return Tolerance(
        atol=max(asked.atol * max(1.0, truth_rms), 2 * own.max_abs),
        rtol=asked.rtol,
        norm=max(asked.norm, 2 * own.norm),
    )


def likeness(found: float, exact: float, native: float) -> Precision:
    """What an error looks like: found in float32 outputs, beside that of the reference with nothing below float32.

    All are relative norms against float64. Work that magnifies every rounding, by cancelling, magnifies both. Where
    roundings choose among elements, as before a maximum, nothing tells how coarse they were but the reference as it is.
    """
    magnified = max(1.0, exact / (MANY_SUMS * FLOAT32))
    if found <= CHANCE * exact or found / magnified <= BELOW_FLOAT32:
        return "float32"
    return "tf32-like" if found / magnified <= BELOW_TF32 or found <= CHANCE * native else "bf16-like"


def widened(bound: Tolerance, reference: Error) -> Tolerance:
    """Against the reference at default precision instead of the truth: its own error comes on top."""
    return Tolerance(bound.atol + reference.max_abs, bound.rtol, bound.norm + reference.norm)


def within(out: torch.Tensor, truth: torch.Tensor, bound: Tolerance, found: Error | None = None) -> bool:
    """Every element by `atol + rtol * |truth|`, and the whole by its norm. Exact for integers."""
    if not figures.is_inexact(truth):
        return bool((out == truth).all())
    found = found or figures.error(out, truth)
    if found.norm > bound.norm:
        return False
    return found.max_abs <= bound.atol or not any(bool(wrong.any()) for wrong in misses(out, truth, bound))


def share_off(out: torch.Tensor, truth: torch.Tensor, bound: Tolerance) -> float:
    """Of all elements, the share that is wrong by itself."""
    return sum(int(wrong.sum()) for wrong in misses(out, truth, bound)) / max(1, truth.numel())


def rows_within(out: torch.Tensor, expected: torch.Tensor, bound: Tolerance) -> list[bool]:
    """`within` for a stack of outputs against a stack of expected ones, in a few passes and one wait."""
    count = out.shape[0]
    if out.numel() == 0:
        return [True] * count
    if not figures.is_inexact(expected):
        return [bool(same) for same in (out == expected).reshape(count, -1).all(dim=1).tolist()]
    if not figures.is_long(out[0]):
        return _rows_near(out, expected, bound)
    # That a row is equal, as a baseline's mostly is, shows in less than half the time that figures take.
    rows = zip(out.unsqueeze(1), expected.unsqueeze(1), strict=True)
    return [figures.equal(left, right) or _rows_near(left, right, bound)[0] for left, right in rows]


def _rows_near(out: torch.Tensor, expected: torch.Tensor, bound: Tolerance) -> list[bool]:
    good, least = [], SMALL * math.sqrt(out.numel() // out.shape[0])
    for row, (worst, off, truth) in enumerate(figures.of_rows(out, expected)):
        # What is not plainly good, by the whole, with NaN or infinity in it, or very small, gets the careful look.
        plain = worst <= bound.atol and truth > least and figures.ratio(off, truth) <= bound.norm
        good.append(plain or worst == off == 0 or within(out[row], expected[row], bound))
    return good


def misses(out: torch.Tensor, truth: torch.Tensor, bound: Tolerance) -> Iterator[torch.Tensor]:
    """Piece by piece, which elements are wrong by themselves."""
    if not figures.is_inexact(truth):
        yield out != truth
        return
    for left, right in figures.chunks(out, truth):
        off = (left - right).abs() > bound.room(right)
        finite = left.isfinite() & right.isfinite()
        alike = (left == right) | (left.isnan() & right.isnan())
        yield torch.where(finite, off, ~alike)
