"""What the calls of a series are given: in each round other contents, as fresh as the reference takes them."""

from __future__ import annotations

import torch

from kbench import tree
from kbench.errors import ProblemFault
from kbench.referee import figures, inputs
from kbench.referee.case import Case
from kbench.referee.inputs import Derivation, Recipe

IDLE_BYTES = 1 << 28

Drawn = tuple[list[torch.Tensor], torch.Generator]  # one stack for each input, and what drew it


class Contents:
    def __init__(self, case: Case, base: list[torch.Tensor], skeleton: tree.Skeleton, calls: int) -> None:
        """`base` are inputs as the problem draws them, `skeleton` is theirs; gradients of outputs are among them."""
        self.case = case
        self.skeleton = skeleton
        self.calls = calls
        self.device = case.reference.device.torch_device
        self.how, self._recipes = self._chosen(base)
        self._idle: list[torch.Tensor] | None = None

    def fresh(self, seed: int) -> Drawn:
        """New ones for one round."""
        generator = self._generator(seed)
        if self.how == "redrawn":
            return self._redrawn(seed), generator
        return inputs.derive(self._recipes, self.calls, generator), generator

    def idle(self, seed: int) -> Drawn:
        """For rounds that nobody works on: the same again where they are small."""
        if self._idle is None:
            stacks, generator = self.fresh(seed)
            small = sum(stack.numel() * stack.element_size() for stack in stacks) <= IDLE_BYTES
            self._idle = stacks if small else None
            return stacks, generator
        return self._idle, self._generator(seed)

    def call(self, stacks: list[torch.Tensor], row: int) -> tuple[object, list[torch.Tensor] | None]:
        """Arguments and gradients of outputs of one call."""
        value = tree.rebuild(self.skeleton, iter([stack[row] for stack in stacks]))
        return (value[0], value[1]) if self.case.upstream is not None else (value, None)

    def _redrawn(self, seed: int) -> list[torch.Tensor]:
        drawn = [tree.tensors(self.case.reference.draw(seed + number)) for number in range(self.calls)]
        upstream = self.case.upstream or []
        return [torch.stack(parts) for parts in zip(*[[*parts, *upstream] for parts in drawn], strict=True)]

    def _chosen(self, base: list[torch.Tensor]) -> tuple[Derivation, list[Recipe]]:
        """The freshest that the reference takes; drawing anew each time where it takes none."""
        for how in ("fresh", "scaled"):
            recipes = inputs.recipes(base, how)
            stacks = inputs.derive(recipes, 1, self._generator(1))
            try:
                outcome = self.case.reference.run(self.case.model, *self.call(stacks, 0))
            except ProblemFault:
                continue
            leaves = tree.tensors(self.case.expected(outcome, with_state=False))
            if all(figures.all_finite(leaf) for leaf in leaves if figures.is_inexact(leaf)):
                return how, recipes
        return "redrawn", []

    def _generator(self, seed: int) -> torch.Generator:
        return torch.Generator(self.device).manual_seed(seed)
