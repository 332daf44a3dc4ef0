"""What the timed calls and the extra trials are fed: contents derived from the problem's own inputs.

Structure that a solution may rely on is kept: zeros, the range of values, integer values, symmetry, order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch

from kbench.referee.figures import has_arithmetic

Derivation = Literal["fresh", "scaled", "redrawn"]
Recipe = Callable[[int, torch.Generator], torch.Tensor]  # so many new contents, stacked
JITTER = 0.25
SCALE, SHRINK, SHIFT, LARGE = 8.0, 1 / 64, 1.0, 1024.0
TIE = 0.25  # of the root mean square: values that are multiples of it often agree
SAMPLE = 1 << 16
POOL_SPARE = 1 << 20
MOST_DRAWN = 2**63 - 1  # what is drawn is less

TRANSFORMS: dict[str, Callable[[torch.Tensor, torch.Generator], torch.Tensor]] = {
    "one": lambda tensor, generator: _one_changed(tensor, generator),
    "sign": lambda tensor, _: -tensor,
    "scale": lambda tensor, _: tensor * SCALE,
    "shrink": lambda tensor, _: tensor * SHRINK,
    "large": lambda tensor, _: tensor * LARGE,
    "shift": lambda tensor, _: tensor + SHIFT,
    "normal": lambda tensor, generator: _normal(tensor, generator),
    "ties": lambda tensor, _: _tied(tensor),
}


def transformed(tensors: list[torch.Tensor], name: str, generator: torch.Generator) -> list[torch.Tensor]:
    """Each floating tensor changed, as a whole or in one place; masks and indices stay."""
    change = TRANSFORMS[name]
    free = [tensor.numel() > 0 and tensor.is_floating_point() and not is_integral(tensor) for tensor in tensors]
    return [change(tensor, generator) if may else tensor for tensor, may in zip(tensors, free, strict=True)]


def recipes(tensors: list[torch.Tensor], how: Derivation) -> list[Recipe]:
    """How to derive contents from each tensor, whose structure is looked at here, once for all rounds."""
    choose = _recipe if how == "fresh" else _scaling
    return [choose(tensor) for tensor in tensors]


def derive(made: list[Recipe], count: int, generator: torch.Generator) -> list[torch.Tensor]:
    """`count` new contents for each tensor, stacked along a new first dimension."""
    return [make(count, generator) for make in made]


def is_free(tensor: torch.Tensor) -> bool:
    """Whether single values may change a little and it is an input like before: no mask, no order, no symmetry."""
    return not (is_integral(tensor) or _is_symmetric(tensor) or _is_sorted(tensor))


def is_integral(tensor: torch.Tensor) -> bool:
    """Floating, but a mask or labels by content."""
    if not has_arithmetic(tensor):
        return True
    part = tensor.reshape(-1)[:SAMPLE]
    return part.numel() > 0 and bool((part == part.round()).all())


def _recipe(tensor: torch.Tensor) -> Recipe:
    if tensor.numel() == 0 or tensor.dtype.is_complex or not has_arithmetic(tensor):
        return partial(_same, tensor)
    if tensor.dtype == torch.bool:
        return partial(_shuffled, tensor)
    if not tensor.is_floating_point():
        return _drawing_integers(tensor)
    if is_integral(tensor):
        return partial(_shuffled, tensor)
    if _is_symmetric(tensor) or _is_sorted(tensor):
        return partial(_scaled, tensor)
    return partial(_jittered if _is_triangular(tensor) else _shuffled_and_jittered, tensor)


def _scaling(tensor: torch.Tensor) -> Recipe:
    free = tensor.is_floating_point() and not is_integral(tensor)
    return partial(_scaled if free else _same, tensor)


def _drawing_integers(tensor: torch.Tensor) -> Recipe:
    low, high = int(tensor.min()), int(tensor.max())
    flat = tensor.reshape(-1)
    ordered = flat.numel() > 1 and bool((flat[1:] >= flat[:-1]).all())
    drawable = high < MOST_DRAWN
    if low == high or ordered or not drawable or _is_permutation(flat, low, high):
        return partial(_same, tensor)
    return partial(_redrawn_integers, tensor, low, high)


def _one_changed(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """What tells it from the tensor before is one element anywhere, in the range of the others."""
    changed = tensor.clone(memory_format=torch.contiguous_format)
    flat = changed.view(-1)
    place = torch.randint(flat.numel(), (1,), generator=generator, device=tensor.device)
    high, low = flat.max(), flat.min()
    flat[place] = torch.where(flat[place] - low < high - flat[place], high, low)
    return changed


def _normal(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Another shape of distribution with the same mean and spread, where no structure would be lost."""
    if _is_symmetric(tensor) or _is_sorted(tensor) or _is_triangular(tensor):
        return tensor
    noise = torch.randn(tensor.shape, generator=generator, device=tensor.device)
    wide = tensor.float()
    return (noise * wide.std(correction=0) + wide.mean()).to(tensor.dtype)


def _tied(tensor: torch.Tensor) -> torch.Tensor:
    wide = tensor.float()
    step = TIE * wide.square().mean().sqrt().clamp_min(torch.finfo(torch.float32).tiny)
    return ((wide / step).round() * step).to(tensor.dtype)


def _same(tensor: torch.Tensor, count: int, _: torch.Generator) -> torch.Tensor:
    return _repeated(tensor, count)


def _shuffled(tensor: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
    return _repeated(_permuted(tensor, generator), count)


def _shuffled_and_jittered(tensor: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
    return _jittered(_permuted(tensor, generator), count, generator)


def _jittered(tensor: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
    """Each value towards zero by up to a quarter: it stays in its range, and zero stays zero.

    One pool of factors serves all slots, each from a random place on: drawing is what takes the time here.
    """
    spare = min(tensor.numel(), POOL_SPARE)
    pool = torch.empty(tensor.numel() + spare, device=tensor.device).uniform_(1 - JITTER, 1, generator=generator)
    pool = pool.to(tensor.dtype)
    starts = torch.randint(spare + 1, (count,), generator=generator, device=tensor.device).tolist()
    stack = tensor.new_empty((count, *tensor.shape))
    for row, start in zip(stack, starts, strict=True):
        torch.mul(tensor, pool[start : start + tensor.numel()].view(tensor.shape), out=row)
    return stack


def _scaled(tensor: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
    factors = 1 - JITTER * torch.rand(count, generator=generator, device=tensor.device)
    return _repeated(tensor, count).mul_(factors.to(tensor.dtype).reshape(count, *[1] * tensor.dim()))


def _redrawn_integers(
    tensor: torch.Tensor, low: int, high: int, count: int, generator: torch.Generator
) -> torch.Tensor:
    shape = (count, *tensor.shape)
    return torch.randint(low, high + 1, shape, generator=generator, device=tensor.device, dtype=tensor.dtype)


def _is_triangular(tensor: torch.Tensor) -> bool:
    if tensor.dim() < 2 or min(tensor.shape[-2:]) < 2:
        return False
    matrix = tensor.reshape(-1, *tensor.shape[-2:])[0]
    return bool(torch.equal(matrix, matrix.tril())) or bool(torch.equal(matrix, matrix.triu()))


def _is_sorted(tensor: torch.Tensor) -> bool:
    """Along its last dimension, as bins and boundaries are."""
    if tensor.dim() == 0 or tensor.shape[-1] < 3:
        return False
    row = tensor.reshape(-1, tensor.shape[-1])[0]
    return bool((row[1:] >= row[:-1]).all())


def _is_permutation(flat: torch.Tensor, low: int, high: int) -> bool:
    return flat.numel() == high - low + 1 and bool((flat.sort().values[1:] > flat.sort().values[:-1]).all())


def _permuted(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    if tensor.dim() == 0 or tensor.shape[0] < 2:
        return tensor
    order = torch.randperm(tensor.shape[0], generator=generator, device=tensor.device)
    return tensor.index_select(0, order)


def _repeated(tensor: torch.Tensor, count: int) -> torch.Tensor:
    return tensor.unsqueeze(0).expand(count, *tensor.shape).clone(memory_format=torch.contiguous_format)


def _is_symmetric(tensor: torch.Tensor) -> bool:
    if tensor.dim() < 2 or tensor.shape[-1] != tensor.shape[-2] or tensor.shape[-1] < 2:
        return False
    matrix = tensor.reshape(-1, *tensor.shape[-2:])[0]
    return bool(torch.equal(matrix, matrix.mT))
