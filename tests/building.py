"""Builds a solution's extensions in this process, as a worker would get them: no referee, no timing.

Start it before anything uses CUDA: the builder is forked from here.
"""

from __future__ import annotations

import concurrent.futures
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.utils.cpp_extension as cpp_extension
from kbench import host
from kbench.build import builder
from kbench.build.request import BuildOutcome, Request
from kbench.jail import layers
from kbench.protocol import BuildAsk, BuildReply
from kbench.records import BuildMode
from kbench.wire import Channel
from kbench.worker.intercept import Intercept

TIMEOUT_S = 600.0
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUNDLED = sorted((ROOT / "solutions").rglob("epilogue_cuda.py"))
BUNDLED_CPP = sorted((ROOT / "solutions").rglob("epilogue_cpp.py"))
WILD = sorted(path for path in (HERE / "wild" / "solutions").iterdir() if not path.name.startswith(("cpu_", "__")))


class Local:
    """Stands where a worker has its referee."""

    def __init__(self, channel: Channel, arch_list: str | None = None) -> None:
        self.channel = channel
        self.arch_list = arch_list
        self.mode: BuildMode = "auto"
        self.layers = tuple(sorted(layers.probe()[0]))
        self.asks: list[BuildAsk] = []
        self.outcomes: list[BuildOutcome] = []
        self.artifacts: list[bytes] = []

    def send(self, ask: BuildAsk) -> None:
        self.asks.append(ask)
        self.channel.send(Request(ask, self.arch_list, self.layers, TIMEOUT_S, self.mode))

    def receive(self, _: Any) -> BuildReply:
        outcome: BuildOutcome = self.channel.receive(BuildOutcome)
        assert outcome.machine is None, outcome.machine
        self.outcomes.append(outcome)
        return BuildReply(outcome.log if outcome.sha256 is None else None, outcome.with_glue)

    def take_fds(self, count: int) -> list[int]:
        fds = self.channel.take_fds(count)
        if len(self.artifacts) < len(self.outcomes):  # what comes after an artifact is its glue
            self.artifacts.append(Path(f"/proc/self/fd/{fds[0]}").read_bytes())
        return fds


def start(cache: Path | str | None = None, arch_list: str | None = None) -> Local:
    before = os.environ.get("KBENCH_CACHE")
    if cache is not None:
        os.environ["KBENCH_CACHE"] = str(cache)
    channel = host._split_off(builder.serve, (), accepts=False)
    if cache is not None:
        os.environ.pop("KBENCH_CACHE")
        os.environ.update({"KBENCH_CACHE": before} if before else {})
    channel.accept_fds = True
    return Local(channel, arch_list)


@contextmanager
def intercepted(local: Local, mode: BuildMode) -> Iterator[Local]:
    """Within, load_inline and load are built by `local`; afterwards they are torch's again."""
    module: Any = cpp_extension
    before = module.load_inline, module.load
    local.mode = mode
    local.asks, local.outcomes, local.artifacts = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        ours: Any = Intercept(local, scratch)  # type: ignore[arg-type]
        module.load_inline, module.load = ours.load_inline, ours.load
        temporary, tempfile.tempdir = tempfile.tempdir, scratch  # sources that it writes there come along
        try:
            yield local
        finally:
            module.load_inline, module.load = before
            tempfile.tempdir = temporary


def imported(path: Path, name: str = "solution") -> ModuleType:
    """A fresh import of a solution or problem."""
    file = path / "solution.py" if path.is_dir() else path
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def problem_of(solution: Path) -> Path:
    if "wild" in solution.parts:
        return HERE / "wild" / "problems" / f"{solution.stem}.py"
    return ROOT / "problems" / solution.relative_to(ROOT / "solutions").parent.with_suffix(".py")


def arch() -> str | None:
    if not torch.cuda.is_available():
        return None
    return ".".join(map(str, torch.cuda.get_device_capability())) + "+PTX"


def made(local: Local, solution: Path, mode: BuildMode) -> tuple[Any, float, list[BuildOutcome]]:
    """A model, the seconds its builds took, and their outcomes."""
    with intercepted(local, mode) as local:
        problem, module = imported(problem_of(solution), "problem"), imported(solution)
        torch.manual_seed(0)
        model = module.ModelNew(*problem.get_init_inputs())
        model = model.cuda() if torch.cuda.is_available() else model
        return model, sum(outcome.seconds for outcome in local.outcomes), list(local.outcomes)


def outputs(model: Any, solution: Path) -> list[torch.Tensor]:
    torch.manual_seed(1)
    inputs = [x.cuda() if isinstance(x, torch.Tensor) else x for x in imported(problem_of(solution)).get_inputs()]
    with torch.no_grad():
        out = model(*inputs)
    torch.cuda.synchronize()
    return [x for x in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(x, torch.Tensor)]


def full_in_parallel(cache: Path, solutions: list[Path]) -> None:
    """Fills the cache with the full builds: one after the other they take a minute each."""

    def one(solution: Path) -> str:
        command = [sys.executable, __file__, str(cache), str(solution), str(arch())]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if run.returncode == 0 else f"  {solution.stem}: {run.stderr.strip()[-300:]}"

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for text in pool.map(one, solutions):
            print(text, end="\n" if text else "")


if __name__ == "__main__":
    made(start(sys.argv[1], sys.argv[3]), Path(sys.argv[2]), "full")
