"""Who may have the reference's weights: a solution whose parameters are the same by name, shape and type."""

from __future__ import annotations

import pytest
import torch
from kbench import tree
from kbench.protocol import Constructed
from kbench.referee import weights
from kbench.tree import TensorSpec


class Model(torch.nn.Module):
    def __init__(self, size: int = 4, kind: torch.dtype = torch.float32, buffer: str = "mean") -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size, dtype=kind))
        self.register_buffer(buffer, torch.zeros(size, dtype=kind))


def told(model: torch.nn.Module) -> Constructed:
    """What its worker says of it."""
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    specs = tuple(tree.describe_tensor(value) for value in (*parameters.values(), *buffers.values()))
    assert all(isinstance(spec, TensorSpec) for spec in specs)
    return Constructed(tuple(parameters), tuple(buffers), specs)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("theirs", "agree", "shared"),
    [
        (Model(), True, ["mean"]),
        (Model(size=5), False, []),
        (Model(kind=torch.float64), False, []),
        (Model(buffer="average"), True, []),
        (torch.nn.Linear(4, 4), False, []),
        (torch.nn.Identity(), False, []),
    ],
)
def test_names_shapes_and_types_decide(theirs: torch.nn.Module, agree: bool, shared: list[str]) -> None:
    assert weights.agree(Model(), told(theirs)) is agree
    assert weights.shared_buffers(Model(), told(theirs)) == shared


def test_what_a_worker_makes_up_agrees_with_nothing() -> None:
    honest = told(Model())
    twice = Constructed(("weight", "weight"), (), (*honest.specs, *honest.specs))
    nameless = Constructed(("weight",), (), ())
    more = Constructed(("weight", "other"), (), (honest.specs[0], honest.specs[0]))
    assert not any(weights.agree(Model(), made_up) for made_up in (twice, nameless, more))
    assert weights.shared_buffers(Model(), Constructed(("weight",), ("mean",), ())) == []
