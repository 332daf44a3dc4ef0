from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from kbench import problem
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


@pytest.mark.parametrize(
    "forward, settings", [("x + 1", ""), ("x.add_(1)", ""), ("x * x", "KBENCH = dict(grad=True)")], ids=str
)
def test_how_long_a_call_takes_is_told_without_copying_its_inputs(
    forward: str, settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.py"
    path.write_text(settings + MODEL.format(forward=forward))
    source = problem.read(path, "one")
    reference = Reference(source, problem.settings(source, problem.load(source)), "default", Cpu())
    cloned, given = nest.cloned, [torch.ones(4)]

    def slowly(value: Any) -> Any:
        time.sleep(COPYING_S)
        return cloned(value)

    monkeypatch.setattr(nest, "cloned", slowly)
    upstream = [torch.ones(4)] if settings else None
    assert reference.seconds_per_call(reference.construct([], 1), given, upstream) < COPYING_S / 2
    assert given[0].tolist() == [1.0] * 4 and not given[0].requires_grad
