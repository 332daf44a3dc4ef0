"""What counts as a call: bringing outputs into plain order does, on every side."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import torch
from conftest import Evaluate

TURNED = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return (x + 1).t()


def get_inputs():
    return [torch.randn(2048, 2048)]
"""


def quickest_ms(work: Callable[[], object]) -> float:
    walls = []
    for _ in range(10):
        began = time.perf_counter()
        work()
        walls.append(time.perf_counter() - began)
    return min(walls) * 1e3


def test_a_turned_output_is_put_in_order_within_the_call_and_not_within_rounds_without_work(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    """What such rounds take is subtracted, also from solutions whose outputs lie in order already."""
    problem, solution = tmp_path / "turned.py", tmp_path / "in_order.py"
    problem.write_text(TURNED)
    solution.write_text(TURNED.replace(".t()", ".t().contiguous()"))
    x, place = torch.randn(2048, 2048), torch.empty(2048, 2048)
    least = quickest_ms(lambda: place.copy_(x.t())) * 0.6  # what the sum takes comes on top
    result = evaluate(solution, problem)
    assert result.passed and result.timing, result.reason
    assert result.timing.median_ms > least
    assert result.baselines["eager"].median_ms > least
