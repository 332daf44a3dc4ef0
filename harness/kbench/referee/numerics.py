"""Compares outputs with the truth and says how they differ. Plain tensors in, plain records out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from kbench.records import Mismatch, Precision

DEFAULTS = {
    "float64": (1e-8, 1e-9),
    "float32": (1e-4, 1e-4),
    "float16": (2e-3, 2e-3),
    "bfloat16": (1e-2, 1e-2),
}
COARSE = (0.1, 0.1)  # eight-bit floats
CHUNK = 1 << 26
LONG = 1 << 14
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


@dataclass(frozen=True)
class Error:
    """How far an output is from the truth; infinite where they disagree about what is finite."""

    max_abs: float = 0.0
    norm: float = 0.0


def tolerance(dtype: torch.dtype, atol: float | None, rtol: float | None, norm: float | None) -> Tolerance:
    """What was asked for, else the defaults of the type."""
    both, of_norm = DEFAULTS.get(str(dtype).removeprefix("torch."), COARSE)
    if dtype.is_complex:
        both, of_norm = DEFAULTS["float32" if dtype == torch.complex64 else "float64"]
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


def rms(truth: torch.Tensor) -> float:
    if truth.numel() == 0 or not is_inexact(truth):
        return 0.0
    norms = [float(_norm(part)) for part in _pieces(truth)]
    if not all(map(math.isfinite, norms)):
        norms = [float(_norm(_finite_sizes(part))) for part in _pieces(truth)]
    return math.hypot(*norms) / math.sqrt(truth.numel())


def all_finite(tensor: torch.Tensor) -> bool:
    """Its norm says so in one pass, where that does not overflow."""
    return all(math.isfinite(float(_norm(part))) or bool(part.isfinite().all()) for part in _pieces(tensor))


def error(out: torch.Tensor, truth: torch.Tensor) -> Error:
    """Largest difference and relative norm of the difference."""
    if out.numel() == 0:
        return Error()
    if not is_inexact(truth):
        unequal = int((out != truth).sum())
        return Error(float(unequal > 0), unequal / truth.numel())
    worst, square, truth_square = 0.0, 0.0, 0.0
    for left, right in _chunks(out, truth):
        figures = _figures(left - right, right)
        if not all(map(math.isfinite, figures)):
            figures = _figures(_difference(left, right), _finite_sizes(right))
        largest, off, size = (number if math.isfinite(number) else math.inf for number in figures)
        worst, square, truth_square = max(worst, largest), square + off * off, truth_square + size * size
    return Error(worst, _ratio(math.sqrt(square), math.sqrt(truth_square)))


def within(out: torch.Tensor, truth: torch.Tensor, bound: Tolerance, found: Error | None = None) -> bool:
    """Every element by `atol + rtol * |truth|`, and the whole by its norm. Exact for integers."""
    if not is_inexact(truth):
        return bool((out == truth).all())
    found = found or error(out, truth)
    if found.norm > bound.norm:
        return False
    return found.max_abs <= bound.atol or not any(bool(wrong.any()) for wrong in _wrong(out, truth, bound))


def share_off(out: torch.Tensor, truth: torch.Tensor, bound: Tolerance) -> float:
    """Of the elements, how many are wrong by themselves."""
    return sum(int(wrong.sum()) for wrong in _wrong(out, truth, bound)) / max(1, truth.numel())


def explain(out: torch.Tensor, truth: torch.Tensor, bound: Tolerance, name: str, trial: str) -> Mismatch:
    """How many, where, the worst element with both values, the pattern if there is one."""
    out, truth = computable(out), computable(truth)
    wrong = torch.cat([part.flatten().cpu() for part in _wrong(out, truth, bound)]) if truth.numel() else None
    count = int(wrong.sum()) if wrong is not None else 0
    if wrong is None or count == 0:
        norm = error(out, truth).norm
        summary = f"{name} is off as a whole: relative norm of the error {norm:.3g}, allowed {bound.norm:.3g}"
        return Mismatch(output=name, trial=trial, summary=summary, wrong=0, total=truth.numel())
    place = _worst(out, truth, wrong)
    index = tuple(int(part) for part in unravelled(torch.tensor(place), truth.shape))
    got, expected = _value(out, place), _value(truth, place)
    pattern = _pattern(out, truth, wrong)
    summary = (
        f"{name}: {count} of {truth.numel()} elements are off; at {list(index)} it is {_show(got)}, "
        f"expected {_show(expected)}" + (f"; {pattern}" if pattern else "")
    )
    return Mismatch(
        output=name,
        trial=trial,
        summary=summary,
        wrong=count,
        total=truth.numel(),
        index=index,
        got=_plain(got),
        expected=_plain(expected),
        pattern=pattern,
    )


def rows_within(out: torch.Tensor, expected: torch.Tensor, bound: Tolerance) -> list[bool]:
    """`within` for a stack of outputs against a stack of expected ones, in a few passes and one wait."""
    count = out.shape[0]
    if out.numel() == 0:
        return [True] * count
    if not is_inexact(expected):
        return [bool(same) for same in (out == expected).reshape(count, -1).all(dim=1).tolist()]
    figures = _large_rows(out, expected) if out.numel() // count > CHUNK else _small_rows(out, expected)
    good = []
    least = SMALL * math.sqrt(out.numel() // count)
    for row, (worst, off, truth) in enumerate(figures.tolist()):
        # What is not plainly good, by the whole, with NaN or infinity in it, or very small, gets the careful look.
        plain = worst <= bound.atol and truth > least and _ratio(off, truth) <= bound.norm
        good.append(plain or worst == off == 0 or within(out[row], expected[row], bound))
    return good


def _small_rows(out: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Per row: largest difference, norm of the difference, norm of what is expected."""
    left, right = _lifted(out).reshape(out.shape[0], -1), _lifted(expected).reshape(out.shape[0], -1)
    difference = left - right
    norms = torch.linalg.vector_norm(difference, dim=1), torch.linalg.vector_norm(right, dim=1)
    return torch.stack((_largest(difference), *norms)).T


def _large_rows(out: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The same by pieces, so that no temporary is as large as a row."""
    rows = []
    for row, truth in zip(out, expected, strict=True):
        pieces = [_small_rows(left.unsqueeze(0), right.unsqueeze(0))[0] for left, right in _chunks(row, truth)]
        figures = torch.stack(pieces)
        rows.append(torch.cat((figures[:, :1].amax(dim=0), torch.linalg.vector_norm(figures[:, 1:], dim=0))))
    return torch.stack(rows)


def unravelled(places: torch.Tensor, shape: torch.Size) -> tuple[torch.Tensor, ...]:
    """Flat places as an index; torch.unravel_index imports sympy for it, for a second and a half."""
    parts: list[torch.Tensor] = []
    for length in reversed(shape):
        parts.append(places % length)
        places = places // length
    return tuple(reversed(parts))


def is_inexact(tensor: torch.Tensor) -> bool:
    return tensor.dtype.is_floating_point or tensor.dtype.is_complex


def _wrong(out: torch.Tensor, truth: torch.Tensor, bound: Tolerance) -> Iterator[torch.Tensor]:
    if not is_inexact(truth):
        yield out != truth
        return
    for left, right in _chunks(out, truth):
        off = (left - right).abs() > bound.atol + bound.rtol * right.abs()
        finite = left.isfinite() & right.isfinite()
        alike = (left == right) | (left.isnan() & right.isnan())
        yield torch.where(finite, off, ~alike)


def _chunks(out: torch.Tensor, truth: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    return zip(_pieces(out), _pieces(truth), strict=True)


def _pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    flat = tensor.reshape(-1)
    for start in range(0, flat.numel(), CHUNK):
        yield _lifted(flat[start : start + CHUNK])


def _figures(difference: torch.Tensor, right: torch.Tensor) -> list[float]:
    """Largest difference, norm of the difference, norm of what is right: a pass each, and one wait for all."""
    parts = _largest(difference.unsqueeze(0))[0].double(), _norm(difference), _norm(right)
    figures: list[float] = torch.stack(parts).tolist()
    return figures


def _largest(difference: torch.Tensor) -> torch.Tensor:
    """Of each row by its size; a NaN may stay unseen here, but in no norm."""
    if difference.is_cuda or difference.is_complex():
        largest: torch.Tensor = torch.linalg.vector_norm(difference, math.inf, dim=1)
        return largest
    # On a CPU that is the slowest way, and smallest and largest of a whole tensor the quickest.
    if difference.shape[1] < LONG:
        return difference.abs().amax(dim=1)
    ends = [torch.aminmax(row) for row in difference]
    return torch.stack([torch.maximum(-low, high) for low, high in ends])


def _norm(tensor: torch.Tensor) -> torch.Tensor:
    sizes = tensor.abs() if tensor.is_complex() else tensor
    norm: torch.Tensor = torch.linalg.vector_norm(sizes, dtype=torch.float64)
    return norm


def _difference(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Where not everything is finite: none between NaN and NaN, nor between equal infinities."""
    return torch.where((left == right) | (left.isnan() & right.isnan()), 0.0, left - right)


def _finite_sizes(tensor: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(tensor.abs(), 0.0, 0.0, 0.0)


def _lifted(tensor: torch.Tensor) -> torch.Tensor:
    """Small floats have no arithmetic worth the name: compare them in float32. And of a complex number in float32 the
    size may be infinite."""
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    small = tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4
    return tensor.float() if small else tensor


def computable(tensor: torch.Tensor) -> torch.Tensor:
    """Nothing computes with floats of eight bits."""
    eight = tensor.dtype.is_floating_point and tensor.dtype.itemsize == 1
    return tensor.float() if eight else tensor


def _ratio(off: float, truth: float) -> float:
    """Relative to a truth that is zero everywhere nothing can be said: there `atol` alone decides."""
    if not (math.isfinite(off) and math.isfinite(truth)):
        return math.inf
    return off / truth if truth else 0.0


def _worst(out: torch.Tensor, truth: torch.Tensor, wrong: torch.Tensor) -> int:
    """The wrong element that is furthest off; one that is not finite counts as furthest."""
    places = wrong.nonzero().flatten()[:1_000_000].to(out.device)
    wide = torch.complex128 if truth.dtype.is_complex else torch.float64
    off = (out.reshape(-1)[places].to(wide) - truth.reshape(-1)[places].to(wide)).abs()
    return int(places[int(torch.nan_to_num(off, nan=math.inf, posinf=math.inf).argmax())])


def _pattern(out: torch.Tensor, truth: torch.Tensor, wrong: torch.Tensor) -> str | None:
    flat, right = out.reshape(-1), truth.reshape(-1)
    if is_inexact(out) and bool(out.isnan().all()):
        return "every element is NaN"
    if bool((flat == 0).all()):
        return "every element is zero"
    if flat.numel() > 1 and bool((flat == flat[0]).all()):
        return "every element is the same"
    if is_inexact(out) and not out.dtype.is_complex:
        factor = _factor(flat, right)
        if factor is not None:
            return f"the output is {factor:.4g} times what is expected"
    return _region(wrong.reshape(truth.shape))


def _factor(flat: torch.Tensor, right: torch.Tensor) -> float | None:
    sample = right[: 1 << 20].double().isfinite() & (right[: 1 << 20].double().abs() > 1e-6)
    ratios = (flat[: 1 << 20].double() / right[: 1 << 20].double())[sample]
    if ratios.numel() < 8:
        return None
    middle = float(ratios.median())
    steady = float(((ratios - middle).abs() < 1e-3 * abs(middle)).double().mean()) > 0.99
    return middle if steady and math.isfinite(middle) and abs(middle - 1) > 1e-3 else None


def _region(wrong: torch.Tensor) -> str | None:
    """The slice of one dimension that holds everything wrong, where it is a small part of it."""
    for axis in range(wrong.dim()):
        others = [other for other in range(wrong.dim()) if other != axis]
        lines = wrong.any(dim=others) if others else wrong
        places = lines.nonzero().flatten()
        first, last, length = int(places[0]), int(places[-1]), wrong.shape[axis]
        if length > 1 and last - first + 1 <= length // 2:
            span = f"index {first}" if first == last else f"indices {first} to {last}"
            return f"all of them at {span} of {length} along dimension {axis}"
    if wrong.numel() > 1 and bool(wrong.all()):
        return "all elements are off"
    return None


def _value(tensor: torch.Tensor, place: int) -> complex | float | int | bool:
    value = tensor.reshape(-1)[place].item()
    assert isinstance(value, complex | float | int | bool)
    return value


def _show(value: complex | float | int | bool) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(value: complex | float | int | bool) -> float | int | bool | str:
    """JSON has no NaN, infinity or complex numbers: those are told as text."""
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value
