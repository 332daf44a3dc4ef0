"""The builder process: takes build requests, answers from the cache or compiles in a jail."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NoReturn

import msgspec
import torch
from msgspec import structs

from kbench import machine
from kbench.build import cache, explain, flags, job, standins, toolchain, turn
from kbench.errors import KbenchError, UsageFault
from kbench.jail import landlock, linux
from kbench.jail.launch import Plan
from kbench.jail.layers import Limits
from kbench.jail.orders import Ended, FromKeeper
from kbench.jail.zygote import fork_worker
from kbench.protocol import BuildAsk
from kbench.records import BuildMode, Kernel, Record
from kbench.settings import BUILD_WAIT_S, GLUE_TIMEOUT_S
from kbench.wire import Channel, Closed, Late, Malformed, pair

MEMORY_BYTES = 16 * 2**30
MEMORY_SHARE = 0.5
MAX_ARTIFACT = 512 * 2**20
COMPILER_NICE = 5  # below whatever is being timed
BUSY = ("other builds hold the compilers of this machine", "wait for them, or end them")
MAX_KERNELS = 1000
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
MAX_NAME = 400


class Request(Record, frozen=True):
    """One build, from the referee."""

    ask: BuildAsk
    arch_list: str | None
    layers: tuple[str, ...]
    timeout_s: float
    mode: BuildMode = "auto"
    flags_only: bool = False  # nothing built from it could run here: only ask whether its flags are possible


class Outcome(Record, frozen=True):
    """What became of it. The artifact comes along as a descriptor where there is one, then the glue it needs."""

    key: str
    cached: bool
    seconds: float
    sha256: str | None
    log: str
    path: Literal["light", "full"] | None = None
    why_full: str | None = None
    kernels: tuple[Kernel, ...] = ()
    with_glue: bool = False
    log_file: str | None = None
    timed_out: bool = False
    usage: bool = False  # what is wrong here is how kbench was called
    machine: str | None = None  # this machine cannot build it
    fix: str | None = None


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

    def build(self, request: Request) -> tuple[Outcome, list[Path]]:
        """The outcome and the files that go with it."""
        began = time.monotonic()
        key = self._key(request)
        found = self._find(key)
        if found is None:
            refusal = _refusal(request.ask)
            if refusal or request.flags_only:
                return self._with_log(Outcome(key, False, 0.0, None, refusal or "")), []
            failed = self.store.failure(key)
            if failed is not None:
                return msgspec.json.decode(failed, type=Outcome), []
            missing = _missing(request.ask, self.tools)
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
        parts = (cache.FORMAT, torch.__version__, self.tools.text, request.arch_list, request.mode, version)
        return request.ask.key("|".join(map(str, parts)))

    def _find(self, key: str) -> tuple[cache.Entry, list[Path]] | None:
        """A light artifact counts only together with its glue."""
        found = self.store.find(key)
        if found is None or found[0].glue is None:
            return (found[0], [found[1]]) if found else None
        glue = self.store.find(found[0].glue)
        return (found[0], [found[1], glue[1]]) if glue else None

    def _make(self, request: Request, key: str, began: float) -> tuple[Outcome, list[Path]]:
        glue = None if request.mode == "full" else self._glue(request)
        made = self._compile(request, glue[1] if glue else None)
        if made is None:
            return _machine(*BUSY), []
        seconds = time.monotonic() - began
        if made.artifact is None:
            late = made.log == "" and made.seconds >= request.timeout_s
            outcome = Outcome(key, False, seconds, None, made.log, made.path, made.why_full, timed_out=late)
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

    def _with_log(self, outcome: Outcome) -> Outcome:
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
            return _in_jail(request.layers, order, seconds, glue) if mine else None


def _in_jail(layers: tuple[str, ...], order: job.Order, seconds: float, glue: Path | None) -> job.Made:
    control, keeper_end = pair()
    work, job_end = pair()
    work.limit = MAX_ARTIFACT
    fork_worker(_plan(layers), keeper_end.fileno(), job_end.fileno(), job.run)
    keeper_end.close()
    job_end.close()
    try:
        with _opened([glue] if glue else []) as fds:
            work.send(order, fds)
        return _bounded(work.receive(job.Made, seconds))
    except Late:
        return job.Made(artifact=None, log="", seconds=seconds)
    except (Closed, Malformed):
        return job.Made(artifact=None, log=_end_of(control), seconds=0.0)
    finally:
        control.close()
        work.close()


def _end_of(control: Channel) -> str:
    with contextlib.suppress(Closed, Late, Malformed):
        while True:
            message = control.receive(FromKeeper, 2.0)
            if isinstance(message, Ended):
                how = f"signal {message.signal}" if message.signal else f"exit code {message.code}"
                what = f"our limit on {message.limit}" if message.limit else how
                return f"error: the compiler was ended by {what}"
    return "error: the compiler ended without a word"


def _bounded(made: job.Made) -> job.Made:
    """What a job says is as trustworthy as what it compiles: the sizes, at least, are ours."""
    kernels = tuple(structs.replace(kernel, name=kernel.name[:MAX_NAME]) for kernel in made.kernels[:MAX_KERNELS])
    why = made.why_full[:MAX_NAME] if made.why_full else None
    return structs.replace(made, log=made.log[-job.MAX_LOG :], why_full=why, kernels=kernels)


def _plan(layers: tuple[str, ...]) -> Plan:
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
    return Plan(
        layers=layers,
        limits=Limits(memory_bytes=min(MEMORY_BYTES, int(MEMORY_SHARE * machine.available_memory())), data_limit=False),
        reads=landlock.readable([str(standins.SOURCES)]),
        environment=environment,
        name="kbench.compile",
        nice=COMPILER_NICE,
        ways=landlock.named([str(standins.SOURCES)]),
    )


def _refusal(ask: BuildAsk) -> str | None:
    """Flags that no build gets, and a `-std` that torch's headers refuse: a minute's compilation would say no more."""
    every = (*ask.extra_cflags, *ask.extra_cuda_cflags, *ask.extra_ldflags)
    refused = flags.refused(every)
    if refused:
        return f"error: {refused}"
    header = Path(torch.__file__).parent / "include" / "ATen" / "ATen.h"
    least, own = flags.least_year(header.read_text()), flags.year(every)
    if own is None or own >= least:
        return None
    given = next(flag for flag in reversed(every) if flags.year([flag]) == own)
    said = f"#error C++{least % 100} or later compatible compiler is required to use ATen."
    return f"error: the flag '{given}' is too old\nATen/ATen.h: error: {said}"


def _missing(ask: BuildAsk, tools: toolchain.Toolchain) -> tuple[str, str] | None:
    if not tools.compiler:
        return "no C++ compiler on this machine", "apt-get install g++, or set CXX"
    if ask.has_cuda_sources and not tools.nvcc:
        return "no nvcc on this machine", "install the CUDA toolkit, or set CUDA_HOME"
    return None


def _outcome(key: str, entry: cache.Entry, cached: bool, seconds: float) -> Outcome:
    return Outcome(
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


def _machine(what: str, fix: str | None) -> Outcome:
    return Outcome("", False, 0.0, None, "", machine=what, fix=fix)


def _reply(requests: Channel, outcome: Outcome, files: list[Path]) -> None:
    with _opened(files) as fds:
        requests.send(outcome, fds)


@contextlib.contextmanager
def _opened(paths: list[Path]) -> Iterator[list[int]]:
    fds: list[int] = []
    try:
        fds.extend(os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths)
        yield fds
    finally:
        for fd in fds:
            os.close(fd)
