"""Says how outputs differ from what is right. Plain tensors in, plain records out."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from kbench.records import Mismatch
from kbench.referee import figures, numerics
from kbench.referee.numerics import Tolerance

MOST_PLACES = 1_000_000


def explain(out: torch.Tensor, truth: torch.Tensor, bound: Tolerance, name: str, trial: str) -> Mismatch:
    """How many, where, the worst element with both values, the pattern if there is one."""
    wrong = torch.cat([part.flatten().cpu() for part in numerics.misses(out, truth, bound)]) if truth.numel() else None
    count = int(wrong.sum()) if wrong is not None else 0
    if wrong is None or count == 0:
        norm = figures.error(out, truth).norm
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


def unravelled(places: torch.Tensor, shape: torch.Size) -> tuple[torch.Tensor, ...]:
    """Flat places as an index; torch.unravel_index imports sympy for it, for a second and a half."""
    parts: list[torch.Tensor] = []
    for length in reversed(shape):
        parts.append(places % length)
        places = places // length
    return tuple(reversed(parts))


def _worst(out: torch.Tensor, truth: torch.Tensor, wrong: torch.Tensor) -> int:
    """Of the first wrong elements the one that is furthest off; one that is not finite counts as furthest."""
    places = _first_places(wrong).to(out.device)
    wide = torch.complex128 if truth.dtype.is_complex else torch.float64
    got, expected = (figures.picked(tensor.reshape(-1), places).to(wide) for tensor in (out, truth))
    off = (got - expected).abs()
    return int(places[int(torch.nan_to_num(off, nan=math.inf, posinf=math.inf).argmax())])


def _first_places(wrong: torch.Tensor) -> torch.Tensor:
    """Piece by piece: all of them take eight bytes for each wrong element."""
    found: list[torch.Tensor] = []
    for number, part in enumerate(torch.split(wrong, figures.CHUNK)):
        found.append(part.nonzero().flatten() + number * figures.CHUNK)
        if sum(map(len, found)) >= MOST_PLACES:
            break
    return torch.cat(found)[:MOST_PLACES]


def _pattern(out: torch.Tensor, truth: torch.Tensor, wrong: torch.Tensor) -> str | None:
    if figures.is_inexact(out) and _is_all(out, torch.isnan):
        return "every element is NaN"
    if _is_all(out, lambda part: part == 0):
        return "every element is zero"
    first = next(figures.pieces(out))[0]
    if out.numel() > 1 and _is_all(out, lambda part: part == first):
        return "every element is the same"
    if figures.is_inexact(out) and not out.dtype.is_complex:
        factor = _factor(out.reshape(-1), truth.reshape(-1))
        if factor is not None:
            return f"the output is {factor:.4g} times what is expected"
    return _region(wrong.reshape(truth.shape))


def _is_all(out: torch.Tensor, test: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    return all(bool(test(part).all()) for part in figures.pieces(out))


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
