"""Gives a worker the reference's weights, where names and shapes agree."""

from __future__ import annotations

import torch

from kbench import tree
from kbench.device.memory import HostMemory
from kbench.protocol import Constructed, TakeWeights, offsets
from kbench.referee.side import Side
from kbench.tree import TensorSpec

Shape = tuple[tuple[int, ...], str]  # and type


def agree(model: torch.nn.Module, constructed: Constructed) -> bool:
    """Whether all parameter names, shapes and types are the reference's."""
    theirs = _told(constructed, constructed.parameters)
    ours = {name: _shape(_spec(value)) for name, value in model.named_parameters()}
    return theirs == ours and len(theirs) == len(constructed.parameters)


def shared_buffers(model: torch.nn.Module, constructed: Constructed) -> list[str]:
    """Buffers that both have, alike in shape and type."""
    theirs = _told(constructed, constructed.buffers)
    ours = {name: _shape(_spec(value)) for name, value in model.named_buffers()}
    return [name for name in theirs if theirs[name] == ours.get(name)]


def hand_over(model: torch.nn.Module, buffers: list[str], side: Side) -> None:
    """Copies parameters and the named buffers into memory that the worker reads them from."""
    held = {**dict(model.named_parameters()), **{n: b for n, b in model.named_buffers() if n in buffers}}
    if not held:
        return
    values = [value.detach() for value in held.values()]
    specs = [_spec(value) for value in values]
    starts, total = offsets(specs, [value.element_size() for value in values])
    memory = HostMemory(total)
    try:
        for value, start in zip(values, starts, strict=True):
            end = start + value.numel() * value.element_size()
            memory.view[start:end].view(value.dtype).copy_(value.reshape(-1).cpu())
        side.take_weights(TakeWeights(names=tuple(held), specs=tuple(specs)), memory.fd)
    finally:
        memory.release()


def _told(constructed: Constructed, names: tuple[str, ...]) -> dict[str, Shape]:
    """Of those of these names that it told a shape of."""
    specs = dict(zip((*constructed.parameters, *constructed.buffers), constructed.specs, strict=False))
    return {name: _shape(specs[name]) for name in names if name in specs}


def _spec(value: torch.Tensor) -> TensorSpec:
    described = tree.describe_tensor(value)
    assert isinstance(described, TensorSpec)
    return described


def _shape(spec: TensorSpec) -> Shape:
    return spec.shape, spec.dtype
