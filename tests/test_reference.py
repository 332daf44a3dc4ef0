from __future__ import annotations

from pathlib import Path

import pytest
import torch
from kbench import problem
from kbench.device.cpu import Cpu
from kbench.errors import ProblemFault
from kbench.referee.reference import Reference

MODEL = """
import torch


class Scratch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        found = 2 * x * grad
        x.zero_()
        return found


class Model(torch.nn.Module):
    def forward(self, x):
        self.seen = x.data_ptr()
        return {forward}


def get_inputs():
    with torch.inference_mode({inference}):
        return [torch.ones(4)]
"""
GRAD = "KBENCH = dict(grad=True)"


def reference(
    folder: Path, forward: str, settings: str = "", inference: bool = False
) -> tuple[Reference, torch.nn.Module]:
    path = folder / "one.py"
    path.write_text(settings + MODEL.format(forward=forward, inference=inference))
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
    found, model = reference(tmp_path, "x * x", GRAD)
    given = [torch.full((4,), 3.0)]
    found.run(model, given, None)  # as the first one is
    assert places(found, model, given) == [False, True, True]
    assert not given[0].requires_grad and given[0].grad is None
    outcome = found.run(model, given, [torch.ones(4)])
    assert outcome.gradients["inputs[0]"].tolist() == [6.0] * 4


@pytest.mark.parametrize("forward", ["x.add_(1)", "x.relu_()"])
def test_one_that_writes_to_its_inputs_is_given_copies(forward: str, tmp_path: Path) -> None:
    """Of ones a rectifier leaves everything, of others it would not."""
    found, model = reference(tmp_path, forward)
    given = [torch.ones(4)]
    assert places(found, model, given) == [False] * 3
    assert given[0].tolist() == [1.0] * 4


def test_one_whose_backward_pass_does_so_too(tmp_path: Path) -> None:
    found, model = reference(tmp_path, "Scratch.apply(x)", GRAD)
    given = [torch.ones(4)]
    found.run(model, given, None)
    assert places(found, model, given) == [False] * 3
    assert given[0].tolist() == [1.0] * 4


def test_one_that_does_so_in_some_calls_only_is_a_faulty_problem(tmp_path: Path) -> None:
    found, model = reference(tmp_path, "x + 1 if x[0] == 1 else x.add_(1)")
    found.run(model, [torch.ones(4)], None)
    with pytest.raises(ProblemFault, match="in some calls only"):
        found.run(model, [torch.zeros(4)], None)


def test_inputs_of_inference_mode_can_have_gradients(tmp_path: Path) -> None:
    found, model = reference(tmp_path, "x * x", GRAD, inference=True)
    given = found.draw(1)
    for _ in range(2):
        outcome = found.run(model, given, [torch.ones(4)])
    assert outcome.gradients["inputs[0]"].tolist() == [2.0] * 4
