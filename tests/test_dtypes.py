"""Judging in every type that an output may have: the same on a GPU, where other operations are missing for some."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from conftest import HERE, ROOT, quick
from kbench.client import Referee
from kbench.records import TIMED_CALL
from kbench.referee import figures, inputs, jumps, mismatch, nest, numerics

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
COMPLEX = (torch.complex64, torch.complex128)
WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.uint64)
EVERY = (*FLOATS, *COMPLEX, *WHOLE, torch.bool)
STACK, LENGTH, PLACE = 3, 300, 7
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
TYPED = HERE / "fixtures" / "typed.py"
CHECKED = 20  # calls, at most
FLIP = "x[3, 7] = -x[3, 7]"
ONE_OFF = f"""
from torch import nn
import torch

class ModelNew(nn.Module):
    def forward(self, x, given):
        x = x.clone()
        {FLIP}
        return (torch.relu(x) * 100).to(given.dtype), given.clone()
"""


def stacks(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """A stack of outputs, of which the second is off in one place, and of what is expected."""
    values = torch.rand(STACK, LENGTH, generator=torch.Generator().manual_seed(4)) * 100
    values[1, PLACE] = 0.0
    off = values.clone()
    off[1, PLACE] = 64.0
    return off.to(dtype), values.to(dtype)


def judged(dtype: torch.dtype, device: str) -> dict[str, object]:
    """All that is said of them there."""
    outs, truths = (stack.to(device) for stack in stacks(dtype))
    out, truth = outs[1], truths[1]
    bound = numerics.tolerance(dtype, None, None, None)
    bound = numerics.loosened(bound, figures.rms(truth), figures.Error())
    error = figures.error(out, truth)
    generator = torch.Generator(device).manual_seed(1)
    fresh = inputs.derive(inputs.recipes([truth], "fresh"), 2, generator)[0]
    return {
        "rows": numerics.rows_within(outs, truths, bound),
        "within": numerics.within(out, truth, bound),
        "figures": [error.max_abs, error.norm, figures.rms(truth)],
        "finite": not figures.is_inexact(truth) or figures.all_finite(truth),
        "share": numerics.share_off(out, truth, bound),
        "said": mismatch.explain(out, truth, bound, "output", "a trial").summary,
        "same": (nest.same(out, truth), nest.same(truth, truth.clone())),
        "widened": str(nest.widened(truth).dtype),
        "settled": jumps.settled(lambda _: [truth], 0, [truth], out, truth, bound),
        "fresh": (tuple(fresh.shape), str(fresh.dtype)),
    }


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_one_element_that_is_off_is_found(dtype: torch.dtype) -> None:
    said = judged(dtype, "cpu")
    assert said["rows"] == [True, False, True] and said["within"] is False
    assert said["share"] == 1 / LENGTH and said["same"] == (False, True) and said["finite"] is True
    assert f"1 of {LENGTH} elements are off; at [{PLACE}]" in str(said["said"])
    assert said["settled"] is None
    assert said["fresh"] == ((2, LENGTH), str(dtype))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_a_gpu_says_what_a_cpu_says(dtype: torch.dtype) -> None:
    here, there = judged(dtype, "cpu"), judged(dtype, "cuda")
    assert there.pop("figures") == pytest.approx(here.pop("figures"), rel=1e-5)
    assert there == here


@pytest.mark.parametrize("dtype", (*FLOATS, *COMPLEX), ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_nan_is_never_near_enough(dtype: torch.dtype, device: str) -> None:
    outs, truths = (stack.to(device) for stack in stacks(dtype))
    outs[1] = torch.full((LENGTH,), math.nan).to(dtype).to(device)
    bound = numerics.Tolerance(1e6, 1e6, 1e6)
    assert numerics.rows_within(outs, truths, bound) == [True, False, True]
    assert not figures.all_finite(outs[1]) and nest.same(outs[1], outs[1].clone())
    assert "every element is NaN" in mismatch.explain(outs[1], truths[1], bound, "output", "a trial").summary


@pytest.fixture(scope="module", params=DEVICES)
def judge(request: pytest.FixtureRequest) -> Iterator[Referee]:
    with Referee(request.param, root=str(ROOT)) as warm:
        yield warm


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_a_problem_in_that_type_is_judged(dtype: torch.dtype, judge: Referee, tmp_path: Path) -> None:
    off = tmp_path / "off.py"
    off.write_text(ONE_OFF)
    workload = (str(dtype).removeprefix("torch."),)
    settings = quick(device=judge.device)
    right, wrong = (judge.evaluate(TYPED, solution, workload, settings)[0] for solution in (TYPED, off))
    assert (right.verdict, wrong.verdict) == ("passed", "wrong"), (right.reason, wrong.reason)
    assert "at [3, 7]" in str(wrong.reason)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float8_e4m3fn, torch.float8_e5m2), ids=str)
def test_an_element_that_is_off_in_timed_calls_alone_is_found(
    dtype: torch.dtype, judge: Referee, tmp_path: Path
) -> None:
    """Trials on inputs that are eight times as large loosen nothing there."""
    off = tmp_path / "off.py"
    off.write_text(
        ONE_OFF.replace(FLIP, f"self.calls = getattr(self, 'calls', 0) + 1\n        if self.calls > {CHECKED}: {FLIP}")
    )
    workload = (str(dtype).removeprefix("torch."),)
    found = judge.evaluate(TYPED, off, workload, quick(device=judge.device))[0]
    assert found.verdict == "wrong" and found.check and found.check.mismatch
    assert (found.check.mismatch.trial, found.check.mismatch.index) == (TIMED_CALL, (3, 7))
