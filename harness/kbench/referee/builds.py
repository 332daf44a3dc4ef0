"""Passes a worker's build requests to the builder and remembers what became of them."""

from __future__ import annotations

import os
from typing import Literal

from kbench.build import explain, toolchain
from kbench.build.job import LIGHT_REFUSAL
from kbench.build.request import BuildOutcome, Request
from kbench.device.interface import Device
from kbench.errors import REPORT_IT, MachineFault, RefereeDied, UsageFault
from kbench.protocol import BuildAsk, BuildReply
from kbench.records import Build, BuildError, BuildMode, Extension
from kbench.referee import ruling
from kbench.referee.handle import Handle
from kbench.referee.ruling import Ruling, Stopped
from kbench.settings import LONGEST_WAIT_S
from kbench.wire import Channel, Closed, Late, Malformed

GRACE_S = 30.0
MAX_LOG = 64 * 1024
MAX_NAME = 200


class Builds:
    """The builds of one evaluation."""

    def __init__(
        self,
        builder: Channel,
        device: Device,
        layers: frozenset[str],
        mode: BuildMode,
        texts: dict[str, str],
        ahead: str | None = None,
    ) -> None:
        self.ahead = ahead  # the architectures to build for where nothing will run
        self.builder = builder
        self.device = device
        self.layers = layers
        self.mode = mode
        self.texts = texts  # the solution's own files, which errors point into
        self.extensions: list[Extension] = []

    def build(self, ask: BuildAsk, handle: Handle, seconds: float) -> tuple[BuildReply, list[int]]:
        """The reply for the worker, with the descriptors of the artifact and its glue. `seconds` are for all builds."""
        left = seconds - sum(extension.seconds for extension in self.extensions)
        if left <= 0:
            raise Stopped(ruling.of_deadline("build", seconds))
        for_elsewhere = self.ahead is not None and ask.wants_cuda
        runs_here = self.device.kind == "cuda" or not ask.wants_cuda or for_elsewhere
        self._demand_possible(ask, for_elsewhere)
        request = Request(ask, self._arch_list(), tuple(sorted(self.layers)), left, self.mode, not runs_here)
        outcome = self._ask(request, left)
        if outcome.timed_out:
            raise Stopped(ruling.of_deadline("build", seconds))
        if not runs_here and not outcome.log:
            raise Stopped(Ruling("unsupported", f"extension {ask.name!r} has CUDA sources and the device is the CPU"))
        error = explain.explain(outcome.log, ask, self.texts) if outcome.sha256 is None else None
        self.extensions.append(_extension(ask, outcome, error))
        if error is None:
            return self._handed_over(outcome, for_elsewhere)
        if self.mode == "light" and outcome.path != "full" and LIGHT_REFUSAL in outcome.log:
            raise Stopped(Ruling("unsupported", f"extension {ask.name!r}: {error.message}"))
        handle.failed_build = f"extension {ask.name!r}: {explain.sentence(error)}"
        return BuildReply(error=outcome.log), []

    def summary(self) -> Build:
        seconds = sum(extension.seconds for extension in self.extensions)
        built = bool(self.extensions)
        return Build(
            seconds=seconds,
            cached=built and all(extension.cached for extension in self.extensions),
            path=_path(self.extensions),
            extensions=tuple(self.extensions),
        )

    def _demand_possible(self, ask: BuildAsk, for_elsewhere: bool) -> None:
        if len(ask.name.encode()) > MAX_NAME or not ask.name.isidentifier():
            raise Stopped(Ruling("load_failed", f"an extension cannot be named {ask.name[:100]!r}"))
        if for_elsewhere and not self.ahead:
            fix = "name one with --arch, for instance --arch 9.0 for an H100 or H200"
            raise UsageFault(f"extension {ask.name!r} has CUDA sources, and there is no GPU here to build for", fix)

    def _ask(self, request: Request, seconds: float) -> BuildOutcome:
        """What became of it; raises where that is nothing that the solution could help."""
        try:
            self.builder.send(request)
            outcome: BuildOutcome = self.builder.receive(BuildOutcome, seconds + LONGEST_WAIT_S + GRACE_S)
        except (Closed, Late, Malformed) as error:
            raise RefereeDied(f"the builder does not answer: {error}", REPORT_IT) from None
        if outcome.machine:
            raise (UsageFault if outcome.usage else MachineFault)(outcome.machine, outcome.fix)
        return outcome

    def _handed_over(self, outcome: BuildOutcome, for_elsewhere: bool) -> tuple[BuildReply, list[int]]:
        files = self.builder.take_fds(2 if outcome.with_glue else 1)
        if not for_elsewhere:
            return BuildReply(error=None, with_glue=outcome.with_glue), files
        for fd in files:
            os.close(fd)
        return BuildReply(error=None, ahead=True), []

    def _arch_list(self) -> str | None:
        # What torch itself would choose beside this GPU; the builder's jail has none to look at.
        if self.ahead is not None:
            return self.ahead
        capability = self.device.info().capability
        return toolchain.arch_list(capability) if capability else None


def _path(extensions: list[Extension]) -> Literal["light", "full", "none"]:
    if not extensions:
        return "none"
    return "light" if all(extension.path == "light" for extension in extensions) else "full"


def _extension(ask: BuildAsk, outcome: BuildOutcome, error: BuildError | None) -> Extension:
    return Extension(
        name=ask.name,
        key=outcome.key,
        cached=outcome.cached,
        seconds=outcome.seconds,
        artifact=outcome.sha256,
        path=outcome.path,
        why_full=outcome.why_full,
        kernels=outcome.kernels,
        error=error,
        log=outcome.log[-MAX_LOG:] or None if error else None,
        log_file=outcome.log_file,
    )
