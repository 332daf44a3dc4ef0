"""Nested values and their tensors: moved, copied, widened, compared."""

from __future__ import annotations

from typing import Any

import torch


def moved(value: Any, device: torch.device | None) -> Any:
    """The same nest with detached tensors, on the device where one is named."""
    return _mapped(value, lambda tensor: tensor.detach() if device is None else tensor.detach().to(device))


def cloned(value: Any) -> Any:
    return _mapped(value, lambda tensor: tensor.detach().clone())


def widened_inputs(value: Any) -> Any:
    return _mapped(value, lambda tensor: widened(tensor.detach()))


def widened(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Equal bit by bit as far as NaN goes: NaN equals NaN."""
    if _is_same_memory(left, right):
        return True
    if left.dtype.is_floating_point and left.dtype.itemsize == 1:  # not every torch compares those
        return left.dtype == right.dtype and torch.equal(left.view(torch.uint8), right.view(torch.uint8))
    if torch.equal(left, right):
        return True
    if not (left.is_floating_point() or left.is_complex()):
        return False
    return bool(((left == right) | (left.isnan() & right.isnan())).all())


def _is_same_memory(left: torch.Tensor, right: torch.Tensor) -> bool:
    if left.layout != torch.strided or right.layout != torch.strided or left.numel() == 0:
        return False
    return _place(left) == _place(right)


def _place(tensor: torch.Tensor) -> tuple[object, ...]:
    how = tensor.dtype, tensor.shape, tensor.stride(), tensor.is_conj(), tensor.is_neg()
    return tensor.device, tensor.data_ptr(), *how


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(child, change) for key, child in value.items()}
    if isinstance(value, list | tuple):
        children = [_mapped(child, change) for child in value]
        return children if isinstance(value, list) else tuple(children)
    return value


def leaf_values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for child in value for leaf in leaf_values(child)]
    return [value]


def keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *(key for child in value.values() for key in keys(child))]
    if isinstance(value, list | tuple):
        return [key for child in value for key in keys(child)]
    return []
