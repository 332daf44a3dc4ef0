"""Nested values as a skeleton and its leaves: what inputs, outputs and gradients look like on the wire."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from kbench.records import Record


class TensorSpec(Record, frozen=True, tag="tensor"):
    shape: tuple[int, ...]
    dtype: str  # "float32"
    device: str = "cpu"
    stride: tuple[int, ...] | None = None

    @property
    def numel(self) -> int:
        return math.prod(self.shape)


class Plain(Record, frozen=True, tag="plain"):
    """A number, string or None. Non-finite floats have no JSON: they travel as text."""

    value: int | float | bool | str | None
    kind: str


class Nest(Record, frozen=True, tag="nest"):
    kind: str  # "list", "tuple" or "dict"
    children: tuple[Skeleton, ...]
    keys: tuple[str, ...] = ()


class Other(Record, frozen=True, tag="other"):
    """Something that is neither a tensor nor plain; only its type is told."""

    kind: str


Skeleton = TensorSpec | Plain | Nest | Other


def describe(value: Any, strides: bool = False) -> Skeleton:
    import torch

    if isinstance(value, torch.Tensor):
        return describe_tensor(value, strides)
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return Nest(kind=kind, children=tuple(describe(child, strides) for child in value))
    if isinstance(value, dict):
        children = tuple(describe(child, strides) for child in value.values())
        return Nest(kind="dict", children=children, keys=tuple(map(str, value)))
    return _plain(value)


def describe_tensor(tensor: Any, strides: bool = False) -> TensorSpec | Other:
    """Shape, dtype and device; with `strides` also those, where the memory is dense but not in plain order."""
    if str(tensor.layout) != "torch.strided":
        return Other(kind=f"{tensor.layout} tensor")
    permuted = strides and not tensor.is_contiguous() and _dense(tensor)
    return TensorSpec(
        shape=tuple(map(int, tensor.shape)),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=tensor.device.type,
        stride=tuple(map(int, tensor.stride())) if permuted else None,
    )


def tensors(value: Any) -> list[Any]:
    """The tensors in a nested value, in order."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for child in value for leaf in tensors(child)]
    return []


def specs(skeleton: Skeleton) -> list[TensorSpec]:
    return [leaf for leaf in leaves(skeleton) if isinstance(leaf, TensorSpec)]


def leaves(skeleton: Skeleton) -> Iterator[TensorSpec | Plain | Other]:
    if isinstance(skeleton, Nest):
        for child in skeleton.children:
            yield from leaves(child)
    else:
        yield skeleton


def names(skeleton: Skeleton, name: str = "output") -> list[str]:
    """A readable name for each leaf: `output[0]`, `output['mask']`."""
    if not isinstance(skeleton, Nest):
        return [name]
    keys = [repr(key) for key in skeleton.keys] if skeleton.kind == "dict" else list(range(len(skeleton.children)))
    return [leaf for key, child in zip(keys, skeleton.children, strict=True) for leaf in names(child, f"{name}[{key}]")]


def without(nest: Skeleton, key: str) -> Nest:
    """A dict's skeleton without one of its keys."""
    assert isinstance(nest, Nest)
    kept = [(name, child) for name, child in zip(nest.keys, nest.children, strict=True) if name != key]
    return Nest(kind="dict", keys=tuple(name for name, _ in kept), children=tuple(child for _, child in kept))


def roomier(seen: list[Skeleton]) -> Skeleton:
    """Of several skeletons of the same structure, one with room for tensors whose shape varies."""
    first = seen[0]
    if isinstance(first, Nest):
        nests = [one for one in seen if isinstance(one, Nest) and len(one.children) == len(first.children)]
        children = zip(*(nest.children for nest in nests), strict=True)
        return Nest(kind=first.kind, keys=first.keys, children=tuple(roomier(list(parts)) for parts in children))
    if not isinstance(first, TensorSpec) or all(one == first for one in seen):
        return first
    most = max(one.numel for one in seen if isinstance(one, TensorSpec))
    return TensorSpec(shape=(2 * most + 1024,), dtype=first.dtype, device=first.device)


def rebuild(skeleton: Skeleton, parts: Iterator[Any]) -> Any:
    """The nested value with tensors taken from `parts` in order."""
    if isinstance(skeleton, TensorSpec):
        return next(parts)
    if isinstance(skeleton, Plain):
        return float(str(skeleton.value)) if skeleton.kind == "float" else skeleton.value
    if isinstance(skeleton, Other):
        raise TypeError(f"a {skeleton.kind} cannot be an input")
    children = [rebuild(child, parts) for child in skeleton.children]
    if skeleton.kind == "dict":
        return dict(zip(skeleton.keys, children, strict=True))
    return children if skeleton.kind == "list" else tuple(children)


def _plain(value: Any) -> Plain | Other:
    if isinstance(value, float) or (isinstance(value, int) and abs(value) >= 2**63):
        return Plain(value=repr(float(value)), kind="float")
    if isinstance(value, bool | int | str):
        kind = next(kind for kind in (bool, int, str) if isinstance(value, kind))
        return Plain(value=kind(value), kind=kind.__name__)
    return Plain(value=None, kind="None") if value is None else Other(kind=type(value).__name__)


def fits(outputs: Skeleton, places: Sequence[Any]) -> bool:
    """Whether the bytes have room in these tensors: the same by type and device, none larger than its place."""
    got = specs(outputs)
    return len(got) <= len(places) and all(
        spec.dtype == str(place.dtype).removeprefix("torch.")
        and spec.device == place.device.type
        and spec.numel <= place.numel()
        for spec, place in zip(got, places, strict=False)
    )


def is_contiguous(tensor: Any) -> bool:
    """In plain order, without gaps. What is sparse is said to be: it fails elsewhere."""
    return str(tensor.layout) != "torch.strided" or bool(tensor.is_contiguous())


def _dense(tensor: Any) -> bool:
    """Whether the strides permute a contiguous block, so that they can be rebuilt elsewhere."""
    expected = 1
    for stride, length in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if length != 1:
            if stride != expected:
                return False
            expected *= length
    return True
