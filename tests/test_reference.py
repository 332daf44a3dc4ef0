from __future__ import annotations

from pathlib import Path

import torch
from kbench import problem
from kbench.device.cpu import Cpu
from kbench.referee.reference import Reference

MODEL = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.seen = x.data_ptr()
        return {forward}


def get_inputs():
    return [torch.ones(4)]
"""


def reference(folder: Path, forward: str, settings: str = "") -> tuple[Reference, torch.nn.Module]:
    path = folder / "one.py"
    path.write_text(settings + MODEL.format(forward=forward))
    source = problem.read(path, "one")
    found = Reference(source, problem.settings(source, problem.load(source)), "default", Cpu())
    return found, found.construct([], 1)


def places(found: Reference, model: torch.nn.Module, given: list[torch.Tensor]) -> list[bool]:
    """Whether three runs had the inputs themselves, and not copies."""
    own = []
    for _ in range(3):
        found.run(model, given, [torch.ones(4)] if found.settings.grad else None)
        own.append(model.seen == given[0].data_ptr())
    return own


def test_one_that_leaves_its_inputs_alone_is_given_them_from_then_on(tmp_path: Path) -> None:
    found, model = reference(tmp_path, "x + 1")
    given = [torch.ones(4)]
    assert places(found, model, given) == [False, True, True]


def test_one_with_gradients_too_and_nothing_of_them_stays(tmp_path: Path) -> None:
    """Copies of large inputs took a quarter of such a call, and counted where it was asked how long one takes."""
    found, model = reference(tmp_path, "x * x", "KBENCH = dict(grad=True)")
    given = [torch.full((4,), 3.0)]
    assert places(found, model, given) == [False, True, True]
    assert not given[0].requires_grad and given[0].grad is None
    outcome = found.run(model, given, [torch.ones(4)])
    assert outcome.gradients["inputs[0]"].tolist() == [6.0] * 4


def test_one_that_changes_its_inputs_is_given_copies(tmp_path: Path) -> None:
    found, model = reference(tmp_path, "x.add_(1)")
    given = [torch.ones(4)]
    assert places(found, model, given) == [False] * 3
    assert given[0].tolist() == [1.0] * 4
