"""A call with its backward pass: the gradients that are asked for, of inputs and of parameters."""

from __future__ import annotations

from typing import Any

import torch

from kbench import tree
from kbench.tree import TensorSpec
from kbench.worker.subject import Subject


def run(subject: Subject, given: Any, gradients: tuple[str, ...]) -> dict[str, Any]:
    """`given` are the inputs, and what the backward pass begins with."""
    inputs, upstream = given
    arguments, leaves = _requiring_grad(inputs)
    output = subject.model(*arguments)
    held = {**subject.named("parameters"), **leaves}
    targets = {name: held[name] for name in gradients if name in held}
    heads = [head for head in tree.tensors(output) if head.is_floating_point()]
    pairs = [(head, grad) for head, grad in zip(heads, upstream, strict=False) if head.requires_grad]
    found: tuple[Any, ...] = (None,) * len(targets)
    if pairs and targets:
        found = torch.autograd.grad(
            [head for head, _ in pairs],
            list(targets.values()),
            [grad for _, grad in pairs],
            allow_unused=True,
        )
    return {"output": output, "gradients": dict(zip(targets, found, strict=True))}


def _requiring_grad(given: Any) -> tuple[Any, dict[str, torch.Tensor]]:
    """The arguments with floating tensors as leaves, and those leaves by name."""
    names = tree.names(tree.describe(given), "inputs")
    tensors = iter(tree.tensors(given))
    leaves: dict[str, torch.Tensor] = {}
    fresh: list[torch.Tensor] = []
    for name, leaf in zip(names, tree.leaves(tree.describe(given)), strict=True):
        if not isinstance(leaf, TensorSpec):
            continue
        tensor = next(tensors)
        if tensor.is_floating_point():
            tensor = tensor.detach().requires_grad_()
            leaves[name] = tensor
        fresh.append(tensor)
    return tree.rebuild(tree.describe(given), iter(fresh)), leaves
