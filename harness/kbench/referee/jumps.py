"""Where the reference itself jumps: of what is nearly equal, another rounding takes another.

A maximum, a choice of experts, the gradient of pooling. An honest solution that rounds otherwise differs from the
reference in such places by any amount, and only there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from kbench import tree
from kbench.referee import numerics
from kbench.referee.numerics import Tolerance

LOOKS = 8
LAST_PLACES = 4  # how far inputs are moved, as a standard deviation
MOST = 0.01  # of the elements: what jumps everywhere cannot be judged this way

Look = Callable[[Any], torch.Tensor]  # inputs to the output in question


def explain(look: Look, given: Any, out: torch.Tensor, right: torch.Tensor, bound: Tolerance) -> bool:
    """Whether `out` is right but for places where the reference jumps as the last places of its inputs change."""
    if right.dtype.is_complex or numerics.share_off(out, right, bound) > MOST:
        return False
    generator = torch.Generator(right.device).manual_seed(right.numel())
    seen = (look(given), *(look(moved(given, generator)) for _ in range(LOOKS)))
    if any(one.shape != right.shape for one in seen):
        return False
    return numerics.within(settled(out, right, bound, seen), right, bound)


def moved(given: Any, generator: torch.Generator) -> Any:
    """The inputs with real numbers changed in their last places."""
    changed = [_moved(tensor, generator) for tensor in tree.tensors(given)]
    return tree.rebuild(tree.describe(given), iter(changed))


def _moved(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    if not tensor.dtype.is_floating_point:
        return tensor
    wide = tensor.to(torch.promote_types(tensor.dtype, torch.float32))
    noise = torch.randn(wide.shape, generator=generator, device=wide.device, dtype=wide.dtype)
    return (wide * (1.0 + LAST_PLACES * torch.finfo(tensor.dtype).eps * noise)).to(tensor.dtype)


def settled(out: torch.Tensor, right: torch.Tensor, bound: Tolerance, seen: Iterable[torch.Tensor]) -> torch.Tensor:
    """The output, with what is right in places where the reference was seen to jump and the output lies within that."""
    values = [_wide(one) for one in seen]
    truth, found = _wide(right), _wide(out)
    low, high = values[0], values[0]
    for one in values[1:]:
        low, high = torch.minimum(low, one), torch.maximum(high, one)
    room = bound.atol + bound.rtol * truth.abs() if numerics.is_inexact(right) else torch.zeros_like(truth)
    jumps = high - low > room
    if float(jumps.double().mean()) > MOST:
        return out
    return torch.where(jumps & (found >= low - room) & (found <= high + room), truth, found).to(right.dtype)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.float64 if numerics.is_inexact(tensor) else torch.int64)
