"""The builder process: takes build requests, answers from the cache or compiles in a jail."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import NoReturn

import msgspec
import torch
from msgspec import structs

from kbench import machine
from kbench.build import cache, explain, jailed, job, refusal, standins, toolchain, turn
from kbench.build.request import BuildOutcome, Request
from kbench.errors import KbenchError, UsageFault
from kbench.jail import linux
from kbench.settings import BUILD_WAIT_S, GLUE_TIMEOUT_S
from kbench.wire import Channel, Closed

BUSY = ("other builds hold the compilers of this machine", "wait for them, or end them")
# What a log says where another try may go better: the machine was at its end, or something is being installed.
NOT_THE_SOURCES = (
    "No space left",
    "Killed",
    "compiler was ended",
    "compiler ended",
    "annot allocate memory",
    "internal compiler error",
    "No such file",
    "cannot find",
)


def serve(requests: Channel) -> NoReturn:
    """The builder's life. Ends when the channel does."""
    linux.set_name("kbench.builder")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    builder: Builder | None = None
    with contextlib.suppress(Closed):
        while True:
            request = requests.receive(Request)
            try:
                builder = builder or Builder(cache.opened(), toolchain.find())
                outcome, files = builder.build(request)
            except OSError as error:
                outcome, files = _machine(f"the cache cannot be read: {error}", "run again"), []
            except KbenchError as fault:
                told = _machine(fault.message, fault.fix)
                outcome, files = structs.replace(told, usage=isinstance(fault, UsageFault)), []
            _reply(requests, outcome, files)
    if builder:
        builder.store.close()
    os._exit(0)


class Builder:
    def __init__(self, store: cache.Cache, tools: toolchain.Toolchain) -> None:
        self.store = store
        self.tools = tools
        self.why_no_glue: str | None = None  # kept: what does not build once is not tried again and again

    def build(self, request: Request) -> tuple[BuildOutcome, list[Path]]:
        """The outcome and the files that go with it."""
        began = time.monotonic()
        key = self._key(request)
        found = self._find(key)
        if found is None:
            refused = refusal.of(request.ask)
            if refused or request.flags_only:
                return self._with_log(BuildOutcome(key, False, 0.0, None, refused or "")), []
            failed = self.store.failure(key)
            if failed is not None:
                return msgspec.json.decode(failed, type=BuildOutcome), []
            missing = refusal.missing(request.ask, self.tools)
            if missing:
                return _machine(*missing), []
            with turn.to_build(str(self.store.folder), key, began + BUILD_WAIT_S) as mine:
                found = self._find(key)  # another process may have been building it
                if found is None:
                    return self._make(request, key, began) if mine else (_machine(*BUSY), [])
        entry, files = found
        return _outcome(key, entry, cached=True, seconds=time.monotonic() - began), files

    def _key(self, request: Request) -> str:
        version = "" if request.mode == "full" else standins.version()
        arch_list = request.arch_list if request.ask.wants_cuda else None  # C++ is the same for each
        parts = (cache.FORMAT, torch.__version__, self.tools.text, arch_list, request.mode, version)
        return request.ask.key("|".join(map(str, parts)))

    def _find(self, key: str) -> tuple[cache.Entry, list[Path]] | None:
        """A light artifact counts only together with its glue."""
        found = self.store.find(key)
        if found is None or found[0].glue is None:
            return (found[0], [found[1]]) if found else None
        glue = self.store.find(found[0].glue)
        return (found[0], [found[1], glue[1]]) if glue else None

    def _make(self, request: Request, key: str, began: float) -> tuple[BuildOutcome, list[Path]]:
        glue = None if request.mode == "full" else self._glue(request)
        made = self._compile(request, glue[1] if glue else None)
        if made is None:
            return _machine(*BUSY), []
        seconds = time.monotonic() - began
        if made.artifact is None:
            late = made.log == "" and made.seconds >= request.timeout_s
            outcome = BuildOutcome(key, False, seconds, None, made.log, made.path, made.why_full, timed_out=late)
            outcome = self._with_log(outcome)
            if not late and not any(sign in made.log for sign in NOT_THE_SOURCES):
                self.store.note_failure(key, msgspec.json.encode(structs.replace(outcome, cached=True)))
            return outcome, []
        entry = cache.Entry(
            name=request.ask.name,
            sha256=cache.digest(made.artifact),
            seconds=seconds,
            log=made.log,
            path=made.path or "full",
            why_full=made.why_full,
            kernels=made.kernels,
            glue=glue[0] if glue and made.path == "light" else None,
        )
        _, artifact = self.store.store(key, entry, made.artifact)
        files = [artifact, glue[1]] if glue and entry.glue else [artifact]
        return _outcome(key, entry, cached=False, seconds=seconds), files

    def _with_log(self, outcome: BuildOutcome) -> BuildOutcome:
        kept = self.store.keep_log(outcome.key, outcome.log) if outcome.log else None
        return structs.replace(outcome, log_file=kept)

    def _glue(self, request: Request) -> tuple[str, Path] | None:
        """The glue for this torch; the first build on a machine waits for it, which is shorter than going without."""
        if self.why_no_glue or not self.tools.compiler:
            return None
        parts = (cache.FORMAT, torch.__version__, torch.version.git_version, self.tools.text, standins.version())
        key = cache.digest("|".join(map(str, ("glue", *parts))).encode())
        deadline = time.monotonic() + (0.0 if self.store.find(key) else GLUE_TIMEOUT_S)
        with turn.to_build(str(self.store.folder), key, deadline):
            found = self.store.find(key)
            if found:
                return key, found[1]
            made = self._job(request, self._order(request), GLUE_TIMEOUT_S, None)
            if made is None:
                return None
            if made.artifact is None:
                self.why_no_glue = f"the glue does not build here: {explain.first_error(made.log)}"
                return None
            entry = cache.Entry("glue", cache.digest(made.artifact), made.seconds, made.log, path="glue")
            return key, self.store.store(key, entry, made.artifact)[1]

    def _compile(self, request: Request, glue: Path | None) -> job.Made | None:
        order = structs.replace(
            self._order(request),
            ask=request.ask,
            mode=request.mode,
            has_glue=glue is not None,
            why_no_glue=self.why_no_glue,
        )
        return self._job(request, order, request.timeout_s, glue)

    def _order(self, request: Request) -> job.Order:
        """What every job of this request has in common."""
        return job.Order(
            compiler=self.tools.compiler or "c++",
            cuda_home=self.tools.cuda_home,
            arch_list=request.ask.arch_list or request.arch_list,
            jobs=machine.usable_cores(),
        )

    def _job(self, request: Request, order: job.Order, seconds: float, glue: Path | None) -> job.Made | None:
        """None where the machine's compilers were busy for too long, which is no fault of the solution."""
        slots = turn.slots(machine.usable_cores(), machine.available_memory())
        with turn.to_compile(slots, time.monotonic() + BUILD_WAIT_S) as mine:
            return jailed.compiled(request.layers, order, seconds, glue) if mine else None


def _outcome(key: str, entry: cache.Entry, cached: bool, seconds: float) -> BuildOutcome:
    return BuildOutcome(
        key=key,
        cached=cached,
        seconds=seconds,
        sha256=entry.sha256,
        log=entry.log,
        path=None if entry.path == "glue" else entry.path,
        why_full=entry.why_full,
        kernels=entry.kernels,
        with_glue=entry.glue is not None,
    )


def _machine(what: str, fix: str | None) -> BuildOutcome:
    return BuildOutcome("", False, 0.0, None, "", machine=what, fix=fix)


def _reply(requests: Channel, outcome: BuildOutcome, files: list[Path]) -> None:
    with jailed.opened(files) as fds:
        requests.send(outcome, fds)
