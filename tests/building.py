"""Builds a solution's extensions in this process, as a worker would get them: no referee, no timing.

Start it before anything uses CUDA: the builder is forked from here.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch.utils.cpp_extension as cpp_extension
from kbench import host
from kbench.build import builder
from kbench.build.builder import Outcome, Request
from kbench.jail import layers
from kbench.protocol import BuildAsk, BuildReply
from kbench.records import BuildMode
from kbench.wire import Channel
from kbench.worker.intercept import Intercept

TIMEOUT_S = 600.0


class Local:
    """Stands where a worker has its referee."""

    def __init__(self, channel: Channel, arch_list: str | None = None) -> None:
        self.channel = channel
        self.arch_list = arch_list
        self.mode: BuildMode = "auto"
        self.layers = tuple(sorted(layers.probe()[0]))
        self.asks: list[BuildAsk] = []
        self.outcomes: list[Outcome] = []
        self.artifacts: list[bytes] = []

    def send(self, ask: BuildAsk) -> None:
        self.asks.append(ask)
        self.channel.send(Request(ask, self.arch_list, self.layers, TIMEOUT_S, self.mode))

    def receive(self, _: Any) -> BuildReply:
        outcome: Outcome = self.channel.receive(Outcome)
        assert outcome.machine is None, outcome.machine
        self.outcomes.append(outcome)
        return BuildReply(outcome.key, outcome.log if outcome.sha256 is None else None, outcome.with_glue)

    def take_fds(self, count: int) -> list[int]:
        fds = self.channel.take_fds(count)
        if len(self.artifacts) < len(self.outcomes):  # what comes after an artifact is its glue
            self.artifacts.append(Path(f"/proc/self/fd/{fds[0]}").read_bytes())
        return fds


def start(cache: Path | str | None = None, arch_list: str | None = None) -> Local:
    if cache is not None:
        os.environ["KBENCH_CACHE"] = str(cache)
    channel = host._split_off(builder.serve, (), accepts=False)
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
