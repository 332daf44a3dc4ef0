"""What one call of the reference yields."""

from __future__ import annotations

from typing import Any

import torch

from kbench import tree


class Outcome:
    """The returned value, and everything else that counts as output."""

    def __init__(
        self,
        output: Any,
        gradients: dict[str, Any],
        buffers: dict[str, torch.Tensor],
        changed: tuple[str, ...],
        inputs: list[torch.Tensor],
    ) -> None:
        self.output = output
        self.gradients = gradients
        self.buffers = buffers
        self.changed = changed
        self.inputs = inputs

    @property
    def tensors(self) -> list[torch.Tensor]:
        gradients = [gradient for gradient in self.gradients.values() if gradient is not None]
        return [*tree.tensors(self.output), *gradients, *self.buffers.values()]

    def value(self, gradients: tuple[str, ...], state: tuple[str, ...]) -> dict[str, Any]:
        """As a worker that was asked for these gradients and buffers describes it."""
        value: dict[str, Any] = {"output": self.output}
        if gradients:
            value["gradients"] = {name: self.gradients.get(name) for name in gradients}
        if state:
            value["state"] = {name: self.buffers[name] for name in state}
        return value
