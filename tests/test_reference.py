"""The problem as the referee runs it."""

from __future__ import annotations

import gc
import time
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from kbench import problem, problem_settings
from kbench.device.cpu import Cpu
from kbench.referee import nest
from kbench.referee.reference import Reference

MODEL = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {forward}


def get_inputs():
    return [torch.ones(4)]
"""
COPYING_S = 0.02


def read(folder: Path, forward: str, settings: str = "") -> Reference:
    path = folder / "one.py"
    path.write_text(settings + MODEL.format(forward=forward))
    source = problem.read(path, "one")
    return Reference(source, problem_settings.read(source, problem.load(source)), "default", Cpu())


@pytest.mark.parametrize(
    "forward, settings", [("x + 1", ""), ("x.add_(1)", ""), ("x * x", "KBENCH = dict(grad=True)")], ids=str
)
def test_how_long_a_call_takes_is_told_without_copying_its_inputs(
    forward: str, settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = read(tmp_path, forward, settings)
    cloned, given = nest.cloned, [torch.ones(4)]

    def slowly(value: Any) -> Any:
        time.sleep(COPYING_S)
        return cloned(value)

    monkeypatch.setattr(nest, "cloned", slowly)
    upstream = [torch.ones(4)] if settings else None
    assert reference.seconds_per_call(reference.construct([], 1), given, upstream) < COPYING_S / 2
    assert given[0].tolist() == [1.0] * 4 and not given[0].requires_grad


def test_nothing_in_float64_is_held_while_the_truth_is_sought_in_float32(tmp_path: Path) -> None:
    """It may be most of the memory there is, and no collector runs between the two."""
    reference = read(tmp_path, "self.note(x)")
    model = reference.construct([], 1)
    alive: list[weakref.ref[torch.Tensor]] = []

    def note(x: torch.Tensor) -> torch.Tensor:
        if x.dtype == torch.float64:
            alive.append(weakref.ref(x))
            raise RuntimeError("no kernel for Double")
        assert alive and alive[0]() is None
        return x + 1

    model.note = note
    gc.disable()
    try:
        outcome, precision = reference.truth(model, [torch.ones(4)], None)
    finally:
        gc.enable()
    assert precision == "float32" and outcome.output.tolist() == [2.0] * 4
