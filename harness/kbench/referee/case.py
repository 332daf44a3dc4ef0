"""The reference with one set of weights, and what is expected of a call on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from kbench import tree
from kbench.referee import jumps
from kbench.referee.numerics import Tolerance
from kbench.referee.outcome import Outcome
from kbench.referee.reference import Reference


@dataclass
class Case:
    """An instance of the reference with what its calls are judged by."""

    reference: Reference
    model: torch.nn.Module
    gradients: tuple[str, ...]  # whose gradients are outputs
    state: tuple[str, ...]  # buffers that the reference changes and the solution has
    upstream: list[torch.Tensor] | None
    asked: Callable[[torch.dtype], Tolerance]
    full_precision: bool = False

    def expected(self, outcome: Outcome, with_state: bool = True) -> dict[str, Any]:
        return outcome.value(self.gradients, self.state if with_state else ())

    def settled(
        self,
        number: int,
        given: Any,
        upstream: list[torch.Tensor] | None,
        out: torch.Tensor,
        right: torch.Tensor,
        bound: Tolerance,
    ) -> torch.Tensor | None:
        """An output that is off, as it is where the reference jumps; None where it is wrong."""

        def look(moved: Any) -> list[torch.Tensor]:
            return tree.tensors(self.expected(self.reference.run(self.model, moved, upstream)))

        return jumps.settled(look, number, given, out, right, bound)
