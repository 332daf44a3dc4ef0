"""How large values and their differences are: three figures, each from one reduction. Plain tensors in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

CHUNK = 1 << 26
LONG = 1 << 14
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class Error:
    """How far an output is from the truth; infinite where they disagree about what is finite.

    Of what is exact: whether any element differs, and the share that does.
    """

    max_abs: float = 0.0
    norm: float = 0.0


def rms(truth: torch.Tensor) -> float:
    if truth.numel() == 0 or not is_inexact(truth):
        return 0.0
    norms = [float(_norm(part)) for part in pieces(truth)]
    if not all(norm and math.isfinite(norm) for norm in norms):
        norms = [_careful_norm(_finite_sizes(part)) for part in pieces(truth)]
    return math.hypot(*norms) / math.sqrt(truth.numel())


def all_finite(tensor: torch.Tensor) -> bool:
    """Its norm says so, where that does not overflow."""
    return all(math.isfinite(float(_norm(part))) or bool(part.isfinite().all()) for part in pieces(tensor))


def error(out: torch.Tensor, truth: torch.Tensor) -> Error:
    """Largest difference and relative norm of the difference."""
    if out.numel() == 0:
        return Error()
    if not is_inexact(truth):
        unequal = int((out != truth).sum())
        return Error(float(unequal > 0), unequal / truth.numel())
    largest, offs, sizes = zip(*(_figures(left, right) for left, right in chunks(out, truth)), strict=True)
    return Error(max(largest), ratio(math.hypot(*offs), math.hypot(*sizes)))


def of_rows(out: torch.Tensor, expected: torch.Tensor) -> list[list[float]]:
    """Of each output of a stack: largest difference, norm of the difference, norm of what is expected. One wait."""
    figures: list[list[float]] = (_large_rows if is_long(out[0]) else _small_rows)(out, expected).tolist()
    return figures


def is_long(row: torch.Tensor) -> bool:
    """Whether it is looked at by pieces."""
    return row.numel() > CHUNK


def pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """All values in order, each piece in a type that can be computed with."""
    return map(_lifted, torch.split(tensor.reshape(-1), CHUNK))


def chunks(out: torch.Tensor, truth: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Both by pieces."""
    return zip(pieces(out), pieces(truth), strict=True)


def equal(out: torch.Tensor, truth: torch.Tensor) -> bool:
    """Element by element, where that can be asked of the type. Where they are not, the first piece mostly says so."""
    flat = (torch.split(tensor.reshape(-1), CHUNK) for tensor in (out, truth))
    return has_arithmetic(out) and all(map(torch.equal, *flat))


def is_inexact(tensor: torch.Tensor) -> bool:
    return tensor.dtype.is_floating_point or tensor.dtype.is_complex


def has_arithmetic(tensor: torch.Tensor) -> bool:
    """Hardly anything is defined on floats of eight bits and on large unsigned integers."""
    eight = tensor.dtype.is_floating_point and tensor.dtype.itemsize == 1
    return not eight and tensor.dtype not in UNSIGNED


def computable(tensor: torch.Tensor) -> torch.Tensor:
    """As it is where it has arithmetic, else in a type that has."""
    if has_arithmetic(tensor):
        return tensor
    return tensor.float() if tensor.dtype.is_floating_point else tensor.to(torch.int64)


def picked(rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Of each row the elements at `places`: by their bits where a type has no arithmetic, nor a GPU an index for it."""
    if not has_arithmetic(rows):
        return picked(rows.view(BITS[rows.dtype.itemsize]), places).view(rows.dtype)
    if rows.is_cuda:
        return rows[..., places]
    # Beside another process's threads indexing takes milliseconds now and then, and index_select first copies all of
    # what is not contiguous.
    return rows.gather(-1, places.expand(*rows.shape[:-1], -1))


def ratio(off: float, truth: float) -> float:
    """One norm by the other; none where all of the truth is zero."""
    if not (math.isfinite(off) and math.isfinite(truth)):
        return math.inf
    return off / truth if truth else 0.0


def _small_rows(out: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    left, right = _lifted(out).reshape(out.shape[0], -1), _lifted(expected).reshape(out.shape[0], -1)
    difference = left - right
    norms = torch.linalg.vector_norm(difference, dim=1), torch.linalg.vector_norm(right, dim=1)
    return torch.stack((_largest(difference), *norms)).T


def _large_rows(out: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The same by pieces, so that no temporary is as large as a row."""
    rows = []
    for row, truth in zip(out, expected, strict=True):
        pieces = [_small_rows(left.unsqueeze(0), right.unsqueeze(0))[0] for left, right in chunks(row, truth)]
        figures = torch.stack(pieces)
        rows.append(torch.cat((figures[:, :1].amax(dim=0), torch.linalg.vector_norm(figures[:, 1:], dim=0))))
    return torch.stack(rows)


def _figures(left: torch.Tensor, right: torch.Tensor) -> tuple[float, float, float]:
    """Largest difference, norm of the difference, norm of what is right, with one wait for all."""
    difference = left - right
    parts = _largest(difference.unsqueeze(0))[0].double(), _norm(difference), _norm(right)
    worst, off, size = torch.stack(parts).tolist()
    if math.isfinite(worst + off + size) and size and bool(off) == bool(worst):
        return worst, off, size
    difference = _difference(left, right)
    worst, off = float(_largest(difference.unsqueeze(0))[0]), _careful_norm(difference)
    return worst if math.isfinite(off) else math.inf, off, _careful_norm(_finite_sizes(right))


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


def _careful_norm(tensor: torch.Tensor) -> float:
    """Also where squares are too large or too small for any type; infinite where something is not finite."""
    norm, peak = float(_norm(tensor)), float(_largest(tensor.unsqueeze(0))[0])
    if peak and not (norm and math.isfinite(norm)):
        norm = peak * float(_norm(tensor / peak))
    return norm if math.isfinite(norm) else math.inf


def _difference(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Where not everything is finite: none between NaN and NaN, nor between equal infinities."""
    return torch.where((left == right) | (left.isnan() & right.isnan()), 0.0, left - right)


def _finite_sizes(tensor: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(tensor.abs(), 0.0, 0.0, 0.0)


def _lifted(tensor: torch.Tensor) -> torch.Tensor:
    """Small floats have no arithmetic worth the name: compare them in float32."""
    if tensor.is_complex():
        return tensor.to(torch.complex128)  # the size of one in float32 may be infinite where its parts are not
    small = tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4
    return tensor.float() if small else tensor
