"""A sweep on a GPU: builds ahead, a compiled baseline, results that can be read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from kbench.sweep.store import read
from made import collection

pytestmark = pytest.mark.gpu
PROBLEM = "fusion/conv2d_divide_leaky_relu"


def run(folder: Path, text: str, root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "sweep.yaml").write_text(text)
    command = [
        sys.executable,
        "-m",
        "kbench.cli.main",
        "run",
        str(folder / "sweep.yaml"),
        "--output",
        str(folder / "out"),
    ]
    env = {**os.environ, "KBENCH_CACHE": str(folder / "cache")}
    return subprocess.run(
        [*command, "--root", str(root), *options], capture_output=True, text=True, timeout=1500, check=False, env=env
    )


def test_solutions_are_built_ahead_and_pass(tmp_path: Path) -> None:
    text = f"device: cuda\nproblems: {PROBLEM}\nsolutions: ['*_cuda', '*_torch']\nbudget: 0.2\ntrials: 2\n"
    done = run(tmp_path, text, ROOT)
    assert done.returncode == 0, done.stderr
    found = read(tmp_path / "out")
    assert {one.verdict for one in found} == {"passed"} and len(found) == 3
    (built,) = [one.build for one in found if one.build and one.build.extensions]
    assert built.cached  # not by an earlier run: the cache is this test's own
    assert len(list((tmp_path / "cache" / "solutions").iterdir())) == 3


def test_a_compiled_baseline_on_a_gpu(tmp_path: Path) -> None:
    root = collection(tmp_path / "root")
    done = run(tmp_path, "device: cuda\nproblems: one\nbudget: 0.1\ntrials: 1\nbaseline: compile\n", root)
    assert done.returncode == 0, done.stderr
    for one in read(tmp_path / "out"):
        assert set(one.speedup) == {"eager", "compile"}, one.warnings
        assert one.baselines["compile"].kept and one.baselines["compile"].cost_s


def test_every_solution_in_every_workload(tmp_path: Path) -> None:
    """On all GPUs there are: some seven minutes on one."""
    text = (ROOT / "configs" / "h200.yaml").read_text()
    run(tmp_path, text, ROOT, "--workload", "all", "--baseline", "eager", "--budget", "0.1")
    found = read(tmp_path / "out")
    assert [(one.solution.id, one.problem.workload, one.reason) for one in found if not one.passed] == []
    on_gpus = [path for path in (ROOT / "solutions").glob("*/*/*.py") if not path.stem.endswith("_cpp")]
    assert len({one.solution.id for one in found}) == len(on_gpus)
