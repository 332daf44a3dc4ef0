"""The builder process: takes build requests, answers from the cache or compiles in a jail."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import NoReturn

import torch

from kbench.build import cache, job, toolchain
from kbench.errors import MachineFault
from kbench.jail import landlock, linux
from kbench.jail.keeper import Ended, FromKeeper
from kbench.jail.launch import Plan
from kbench.jail.layers import Limits
from kbench.jail.zygote import fork_worker
from kbench.protocol import BuildAsk
from kbench.records import Record
from kbench.wire import Channel, Closed, Late, Malformed, pair

MEMORY_BYTES = 16 * 2**30
MAX_ARTIFACT = 512 * 2**20
COMPILER_NICE = 5  # below whatever is being timed


class Request(Record, frozen=True):
    """One build, from the referee."""

    ask: BuildAsk
    arch_list: str | None
    layers: tuple[str, ...]
    timeout_s: float
    flags_only: bool = False  # nothing built from it could run here: only ask whether its flags are possible


class Outcome(Record, frozen=True):
    """What became of it. The artifact comes along as a descriptor where there is one."""

    key: str
    cached: bool
    seconds: float
    sha256: str | None
    log: str
    timed_out: bool = False
    machine: str | None = None  # this machine cannot build it
    fix: str | None = None


def serve(requests: Channel) -> NoReturn:
    """The builder's life. Ends when the channel does."""
    linux.set_name("kbench.builder")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    store: cache.Cache | None = None
    with contextlib.suppress(Closed):
        while True:
            request = requests.receive(Request)
            store = store or cache.Cache(cache.default_folder())
            _answer(requests, store, request)
    os._exit(0)


def _answer(requests: Channel, store: cache.Cache, request: Request) -> None:
    began = time.monotonic()
    tools = toolchain.find()
    key = request.ask.key(f"{cache.FORMAT}|{torch.__version__}|{tools.text}|{request.arch_list}")
    try:
        found = store.find(key)
        if found:
            _reply(
                requests,
                Outcome(key, True, time.monotonic() - began, found[0].sha256, found[0].log),
                found[1],
            )
            return
        missing = _missing(request.ask, tools)
        if missing and not request.flags_only:
            requests.send(Outcome(key, False, 0.0, None, "", machine=missing[0], fix=missing[1]))
            return
        made = _compile(request, tools)
        seconds = time.monotonic() - began
        if made.artifact is None:
            late = made.log == "" and seconds >= request.timeout_s
            requests.send(Outcome(key, False, seconds, None, made.log, timed_out=late))
            return
        entry, artifact = store.store(key, request.ask.name, made.artifact, seconds, made.log)
        _reply(requests, Outcome(key, False, seconds, entry.sha256, entry.log), artifact)
    except OSError as error:
        requests.send(Outcome(key, False, 0.0, None, "", machine=f"the cache cannot be read: {error}", fix="run again"))
    except MachineFault as fault:
        requests.send(Outcome(key, False, 0.0, None, "", machine=fault.message, fix=fault.fix))


def _reply(requests: Channel, outcome: Outcome, artifact: Path) -> None:
    fd = os.open(artifact, os.O_RDONLY | os.O_CLOEXEC)
    try:
        requests.send(outcome, (fd,))
    finally:
        os.close(fd)


def _missing(ask: BuildAsk, tools: toolchain.Toolchain) -> tuple[str, str] | None:
    if not tools.compiler:
        return "no C++ compiler on this machine", "apt-get install g++, or set CXX"
    if ask.has_cuda_sources and not tools.nvcc:
        return "no nvcc on this machine", "install the CUDA toolkit, or set CUDA_HOME"
    return None


def _compile(request: Request, tools: toolchain.Toolchain) -> job.Made:
    control, keeper_end = pair()
    work, job_end = pair()
    work.limit = MAX_ARTIFACT
    fork_worker(_plan(request), keeper_end.fileno(), job_end.fileno(), job.run)
    keeper_end.close()
    job_end.close()
    order = job.Order(
        ask=request.ask,
        compiler=tools.compiler or "c++",
        cuda_home=tools.cuda_home,
        arch_list=request.ask.arch_list or request.arch_list,
        jobs=max(1, len(os.sched_getaffinity(0))),
        flags_only=request.flags_only,
    )
    try:
        work.send(order)
        made: job.Made = work.receive(job.Made, request.timeout_s)
        return job.Made(made.artifact, made.log[-job.MAX_LOG :], made.seconds)
    except Late:
        return job.Made(artifact=None, log="", seconds=request.timeout_s)
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
                what = f"our limit on {message.limit}" if message.limit else f"signal {message.signal}"
                return f"error: the compiler was ended by {what}"
    return "error: the compiler ended without a word"


def _plan(request: Request) -> Plan:
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
    return Plan(
        layers=request.layers,
        limits=Limits(memory_bytes=MEMORY_BYTES, data_limit=False),
        reads=landlock.readable(),
        environment=environment,
        name="kbench.compile",
        nice=COMPILER_NICE,
    )
