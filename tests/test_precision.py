"""A float32 problem computed in less: named in the result, and wrong where the problem asks for full precision."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CHEATS, HERE, Evaluate
from kbench.report import text

LINEAR, FULL = (HERE / "fixtures" / f"{name}.py" for name in ("linear", "linear_full"))


def loose(problem: Path, folder: Path) -> Path:
    """The same problem with a tolerance that lets everything through."""
    source = problem.read_text()
    changed = source.replace("KBENCH = dict(", "KBENCH = dict(norm_tol=0.5, atol=0.5, rtol=0.5, ")
    assert changed != source
    (folder / problem.name).write_text(changed)
    return folder / problem.name


@pytest.mark.parametrize(
    ("solution", "like"),
    [
        (LINEAR, "float32"),
        (HERE / "honest" / "sums_in_another_order.py", "float32"),
        (CHEATS / "wrong__bfloat16_product.py", "bf16-like"),
        (CHEATS / "wrong__half_product.py", "tf32-like"),
        (CHEATS / "wrong__ten_bits_of_mantissa.py", "tf32-like"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.stem,
)
def test_it_is_named(solution: Path, like: str, evaluate: Evaluate, tmp_path: Path) -> None:
    result = evaluate(solution, loose(LINEAR, tmp_path))
    assert result.passed and result.check and result.check.precision == like, result.reason
    shown = "\n".join(text.lines(result, False))
    assert ("like" in shown) == (like != "float32")
    result = evaluate(solution, loose(FULL, tmp_path))
    assert result.verdict == ("passed" if like == "float32" else "wrong")
    assert result.passed or "full precision" in (result.reason or "")


def test_it_is_not_said_of_other_types(evaluate: Evaluate, tmp_path: Path) -> None:
    problem = tmp_path / "half.py"
    problem.write_text(LINEAR.read_text().replace("torch.randn(rows, width)", "torch.randn(rows, width).bfloat16()"))
    problem.write_text(problem.read_text().replace("nn.Linear(width, width)", "nn.Linear(width, width).bfloat16()"))
    result = evaluate(problem, problem)
    assert result.passed and result.check and result.check.precision is None


EIGHT_BITS = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sqrt(x).to(torch.float8_e4m3fn)


def get_inputs():
    return [torch.rand(64, 128)]


def get_init_inputs():
    return []
"""


def test_outputs_of_eight_bits_are_judged(evaluate: Evaluate, tmp_path: Path) -> None:
    problem, wrong = tmp_path / "eight.py", tmp_path / "nan.py"
    problem.write_text(EIGHT_BITS)
    wrong.write_text(EIGHT_BITS.replace("Model(", "ModelNew(").replace("sqrt(x)", "sqrt(x.masked_fill(x > 0.9, -1))"))
    result = evaluate(problem, problem)
    # Of other sign all are NaN.
    assert result.passed and result.check and result.check.dropped_transforms, result.reason
    result = evaluate(wrong, problem)
    assert result.verdict == "wrong" and "nan, expected" in (result.reason or ""), result.reason
