"""What a worker holds: the solution's module and one instance of its model."""

from __future__ import annotations

import json
import os
import pickle
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from kbench import module, tree
from kbench.device import memory
from kbench.protocol import MAX_CHANGE, MAX_CHANGES, Construct, Constructed, Done, Load, Loaded, TakeWeights, offsets
from kbench.settings import COMPILED, ENTRIES

MODULE = "kbench_subject"


class Unfit(Exception):
    """The solution lacks what it must have."""


class Subject:
    def __init__(self, scratch: str) -> None:
        self.scratch = scratch
        self.model: Any = None
        self.entry: Any = None
        self.folder = ""
        self.settings = _flags()
        self.order = Load(path="", entry=None, device="cpu", threads=1)
        self.initial: dict[str, torch.Tensor] = {}

    def load(self, order: Load) -> Loaded:
        self.order = order
        if order.device == "cpu":
            torch.set_num_threads(order.threads)
        self.settings = _flags()
        self.folder = str(Path(order.path).parent)
        sys.path.insert(0, self.folder)
        overrides = pickle.loads(order.overrides) if order.overrides else None
        loaded = module.execute(Path(order.path).read_text(), order.path, MODULE, overrides)
        name = _entry_name(loaded, order)
        self.entry = getattr(loaded, name)
        return Loaded(changed=_changes(self.settings))

    def construct(self, order: Construct) -> Constructed:
        before = _flags()
        arguments = pickle.loads(order.arguments)
        self.model = None  # the instance before goes first, with its memory
        _seed(order.seed)
        model = self.entry(*arguments)
        if not callable(model):
            raise Unfit(f"{self.order.entry or 'the entry'} makes a {type(model).__name__}, which cannot be called")
        if hasattr(model, "to"):
            model = model.to(self.order.device)
        self.initial = {}
        self.model = model
        parameters, buffers = self.named("parameters"), self.named("buffers")
        specs = [tree.describe_tensor(value) for value in (*parameters.values(), *buffers.values())]
        if any(isinstance(spec, tree.Other) for spec in specs):
            return Constructed(parameters=("?",), buffers=(), specs=(), changed=_changes(before))
        self.initial = {name: value.detach().clone() for name, value in buffers.items()}
        if self.order.compiled:
            self.model = torch.compile(model, mode=COMPILED[self.order.compiled])
        return Constructed(
            parameters=tuple(parameters),
            buffers=tuple(buffers),
            specs=tuple(spec for spec in specs if isinstance(spec, tree.TensorSpec)),
            changed=_changes(before),
        )

    def take_weights(self, order: TakeWeights, fd: int) -> Done:
        held = {**self.named("parameters"), **self.named("buffers")}
        dtypes = [getattr(torch, spec.dtype) for spec in order.specs]
        starts, total = offsets(list(order.specs), [dtype.itemsize for dtype in dtypes])
        shared = memory.attach(fd, total)
        os.close(fd)
        with torch.no_grad():
            for name, spec, dtype, start in zip(order.names, order.specs, dtypes, starts, strict=True):
                part = shared[start : start + spec.numel * dtype.itemsize].view(dtype).reshape(spec.shape)
                held[name].copy_(part)
        self.initial = {name: value.detach().clone() for name, value in self.named("buffers").items()}
        return Done()

    def restore_buffers(self) -> None:
        with torch.no_grad():
            for name, value in self.named("buffers").items():
                if name in self.initial and self.initial[name].shape == value.shape:
                    value.copy_(self.initial[name])

    def forget(self) -> tuple[str, ...]:
        """Takes out of the process what loading put into it; tells the settings that are others now."""
        sys.modules.pop(MODULE, None)
        if self.folder in sys.path:
            sys.path.remove(self.folder)
        return _changes(self.settings)

    def named(self, kind: str) -> dict[str, torch.Tensor]:
        model = getattr(self.model, "_orig_mod", self.model)
        listed = getattr(model, f"named_{kind}", None)
        return dict(listed()) if listed else {}


def _entry_name(loaded: ModuleType, order: Load) -> str:
    wanted = ("Model",) if order.reference else (order.entry,) if order.entry else ENTRIES
    for name in wanted:
        if callable(getattr(loaded, name, None)):
            return name
    raise Unfit(f"the solution defines no {wanted[0]}")


def _seed(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def _flags() -> dict[str, str]:
    """Process-wide settings that honest solutions do set; the result names what changed."""
    return {
        "default_dtype": str(torch.get_default_dtype()),
        "default_device": str(torch.get_default_device()),
        "grad_enabled": str(torch.is_grad_enabled()),
        "deterministic": str(torch.are_deterministic_algorithms_enabled()),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "num_threads": str(torch.get_num_threads()),
        "cudnn.benchmark": str(torch.backends.cudnn.benchmark),
        "cudnn.deterministic": str(torch.backends.cudnn.deterministic),
        "cudnn.allow_tf32": str(torch.backends.cudnn.allow_tf32),
        "environ": json.dumps(dict(os.environ), sort_keys=True),
    }


def _changes(before: dict[str, str]) -> tuple[str, ...]:
    after = _flags()
    changed = [f"{name}={after[name]}" for name in before if name != "environ" and after[name] != before[name]]
    old, new = json.loads(before["environ"]), json.loads(after["environ"])
    variables = [f"environ {name}" for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return tuple(text[:MAX_CHANGE] for text in (*changed, *variables))[:MAX_CHANGES]
