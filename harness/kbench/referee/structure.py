"""Says in one sentence how a returned structure differs from the expected one. Pure."""

from __future__ import annotations

import math

from kbench.tree import Nest, Other, Plain, Skeleton, TensorSpec

LONGEST = 2000  # shapes and keys are a worker's word


def difference(expected: Skeleton, got: Skeleton, name: str = "output") -> str | None:
    """None where they agree in structure, type, shape, dtype and device."""
    off = _difference(expected, got, name)
    return off and off[:LONGEST]


def _difference(expected: Skeleton, got: Skeleton, name: str) -> str | None:
    if expected == got:
        return None
    if isinstance(expected, Nest) and isinstance(got, Nest) and expected.kind == got.kind:
        return _nests(expected, got, name)
    if isinstance(expected, TensorSpec) and isinstance(got, TensorSpec):
        return _tensors(expected, got, name)
    if isinstance(expected, Plain) and isinstance(got, Plain) and expected.kind == got.kind:
        if expected.kind == "float" and _close(str(expected.value), str(got.value)):
            return None
        return f"{name} is {str(got.value)[:100]}, expected {expected.value}"
    return f"{name} is {_kind(got)}, expected {_kind(expected)}"


def _close(expected: str, got: str) -> bool:
    """Numbers that a model returns were computed in float32 at most."""
    try:
        return math.isclose(float(expected), float(got), rel_tol=1e-4, abs_tol=1e-4) or expected == got
    except ValueError:
        return False


def _nests(expected: Nest, got: Nest, name: str) -> str | None:
    if len(expected.children) != len(got.children):
        return f"{name} is a {got.kind} of {len(got.children)}, expected {len(expected.children)}"
    if expected.keys != got.keys:
        return f"{name} has keys {list(got.keys)}, expected {list(expected.keys)}"
    keys = [repr(key) for key in expected.keys] if expected.keys else list(range(len(expected.children)))
    for key, wanted, found in zip(keys, expected.children, got.children, strict=True):
        off = _difference(wanted, found, _name(name, key))
        if off:
            return off
    return None


def _tensors(expected: TensorSpec, got: TensorSpec, name: str) -> str | None:
    if got.shape != expected.shape:
        return f"{name} has shape {list(got.shape)}, expected {list(expected.shape)}"
    if got.dtype != expected.dtype:
        return f"{name} is {got.dtype}, expected {expected.dtype}"
    if got.device != expected.device:
        return f"{name} is on {got.device}, expected {expected.device}"
    return None


def _name(name: str, key: object) -> str:
    """The outermost dict is ours: its keys are names of their own."""
    return str(key).strip("'") if name == "result" else f"{name}[{key}]"


def _kind(of: Skeleton) -> str:
    if isinstance(of, TensorSpec):
        return "a tensor"
    if isinstance(of, Nest):
        return f"a {of.kind} of {len(of.children)}"
    if isinstance(of, Plain):
        return "None" if of.kind == "None" else f"the {of.kind} {str(of.value)[:100]}"
    assert isinstance(of, Other)
    return f"a {of.kind[:100]}"
