"""Where the reference itself jumps: of what is nearly equal, another rounding takes another.

A maximum, a choice of experts, the gradient of pooling. An honest solution that rounds otherwise differs from the
reference in such places by any amount, and only there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kbench import tree
from kbench.errors import KbenchError
from kbench.referee import figures, inputs, numerics
from kbench.referee.numerics import Tolerance

# Of choices that differ because 512 products were added up in another order, 16 looks at 8 places excuse all but one in
# 200; 8 looks at 4 places, all but one in eleven.
LOOKS = 16
LAST_PLACES = 8  # how far inputs are moved, as a standard deviation
MOST = 0.01  # of the elements: what jumps everywhere cannot be judged one by one
# One choice may move the gradients of all weights behind it. More than this is not the work of a few choices.
TOGETHER = 0.25
# The last place of a smaller type is more than its tolerance: there a move says nothing.
MOVABLE = (torch.float32, torch.float64)

Look = Callable[[Any], list[torch.Tensor]]  # inputs to the reference's outputs


def settled(
    look: Look, number: int, given: Any, out: torch.Tensor, right: torch.Tensor, bound: Tolerance
) -> torch.Tensor | None:
    """Output `number`, with what is right in places where the reference jumps; None where it is wrong elsewhere too."""
    if right.dtype.is_complex or numerics.share_off(out, right, bound) > TOGETHER:
        return None
    try:
        wanted = figures.computable(right)
        found = _settled(look, number, given, figures.computable(out), wanted, bound)
        return None if found is None else found.to(right.dtype)
    except (KbenchError, MemoryError, torch.OutOfMemoryError):
        return None  # it does not take moved inputs, or there is no room for a second look


def _settled(
    look: Look, number: int, given: Any, out: torch.Tensor, right: torch.Tensor, bound: Tolerance
) -> torch.Tensor | None:
    generator = torch.Generator(right.device).manual_seed(right.numel())
    first = look(given)
    seen = Seen(figures.computable(first[number]), out)
    for _ in range(LOOKS):
        others = look(moved(given, generator))
        if [one.shape for one in others] != [one.shape for one in first]:
            return None
        other = figures.computable(others[number])
        if numerics.within(out, other.to(right.dtype), bound):
            return _near(out, right, bound)  # as a whole it is what the reference itself gives next to these inputs
        seen.add(other)
    found = seen.applied(out, right, bound)
    return found if numerics.within(found, right, bound) else None


def _near(out: torch.Tensor, right: torch.Tensor, bound: Tolerance) -> torch.Tensor:
    """The output with the truth where it is off."""
    if not figures.is_inexact(right):
        return right
    found = out.to(right.dtype)
    return torch.where((found - right).abs() <= bound.room(right), found, right)


class Seen:
    """What the reference gave in each place."""

    def __init__(self, first: torch.Tensor, out: torch.Tensor) -> None:
        self._out = out
        self._low, self._high, self._met = first, first, first == out

    def add(self, one: torch.Tensor) -> None:
        self._low, self._high = torch.minimum(self._low, one), torch.maximum(self._high, one)
        self._met = self._met | (one == self._out)

    def applied(self, out: torch.Tensor, right: torch.Tensor, bound: Tolerance) -> torch.Tensor:
        """The output with the truth where the reference jumps, if it is among what was seen there."""
        if not figures.is_inexact(right):
            jumps, among = self._low != self._high, self._met
        else:
            low, high, found = (part.to(right.dtype) for part in (self._low, self._high, out))
            room = bound.room(right)
            # Parts of a sum may each have gone the one way or the other.
            jumps, among = high - low > room, (found >= low - room) & (found <= high + room)
        if int(jumps.sum()) > MOST * jumps.numel():
            return out
        return torch.where(jumps & among, right, out.to(right.dtype))


def moved(given: Any, generator: torch.Generator) -> Any:
    """The inputs with real numbers a little nearer to zero, so that they keep their range."""
    changed = [_moved(tensor, generator) for tensor in tree.tensors(given)]
    return tree.rebuild(tree.describe(given), iter(changed))


def _moved(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    if tensor.dtype not in MOVABLE or tensor.numel() == 0 or not inputs.is_free(tensor):
        return tensor
    noise = torch.randn(tensor.shape, generator=generator, device=tensor.device, dtype=tensor.dtype)
    return tensor * (1.0 - LAST_PLACES * torch.finfo(tensor.dtype).eps * noise.abs())
