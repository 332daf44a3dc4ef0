"""Starts a jailed process out of a clean one: launcher -> keeper -> worker.

The launcher forks from the zygote, enters the namespaces and waits; the keeper is the first process inside; the
worker is its child. The launcher's own end tells that everything inside is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from kbench.jail import layers as jail_layers
from kbench.jail import linux
from kbench.jail.keeper import Keeper, harden
from kbench.jail.layers import SCRATCH, Limits
from kbench.jail.orders import Up
from kbench.records import Record
from kbench.wire import Channel

HOME_FOLDERS = ("tmp", "home", "cache", "solution")
OOM_SCORE = "500"
KEEPER_NICE = 10


class Plan(Record, frozen=True):
    """Everything that is decided before the fork."""

    layers: tuple[str, ...]
    limits: Limits
    reads: tuple[str, ...]
    environment: dict[str, str]
    name: str
    nice: int = 0
    nodes: tuple[str, ...] = ()  # devices that may be written to
    ways: tuple[str, ...] | None = None  # the readable places as they are named; hides what lies beside them


def launch(plan: Plan, zygote: int, control: Channel, keep: tuple[int, ...], main: Callable[[], None]) -> NoReturn:
    """Never returns. `main` runs in the worker; of the open descriptors only `keep` are left to it."""
    try:
        os.setsid()
        linux.set_name("kbench.launch")
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)
        with contextlib.suppress(OSError):
            os.nice(-KEEPER_NICE)  # the keeper must still run while the worker forks without end
        jail_layers.enter_namespaces(frozenset(plan.layers))
        linux.die_with_parent(zygote)
        pid = os.fork()
        if pid == 0:
            _keep(plan, control, keep, main)
        # The channel's other end reads its end only once this process is gone too, so everything inside is.
        _close_all_but((control.fileno(),))
        os.waitpid(pid, 0)
    finally:
        os._exit(0)


def _keep(plan: Plan, control: Channel, keep: tuple[int, ...], main: Callable[[], None]) -> NoReturn:
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    applied = frozenset(plan.layers)
    jail_layers.mount_own(applied, plan.limits.scratch_bytes)
    if plan.ways is not None:
        jail_layers.hide_the_rest(applied, plan.reads, plan.ways)
    scratch = _make_scratch(applied)
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    reader, writer = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(reader)
        control.sock.close()
        _become_worker(plan, scratch, writer, keep, main)
    harden()
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    _close_all_but((2, control.fileno(), reader))
    control.send(Up())
    Keeper(control, reader, worker, plan.limits, scratch, owns_pids="pid" in applied).run()


def _become_worker(plan: Plan, scratch: str, output: int, keep: tuple[int, ...], main: Callable[[], None]) -> NoReturn:
    code = 3
    try:
        os.setsid()
        os.setpriority(os.PRIO_PROCESS, 0, max(plan.nice, os.getpriority(os.PRIO_PROCESS, 0)))
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        linux.set_name(plan.name)
        os.dup2(output, 1)
        os.dup2(output, 2)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        _close_all_but((0, 1, 2, *keep))
        _fresh_environment(plan.environment, scratch)
        jail_layers.confine(frozenset(plan.layers), plan.limits, plan.reads, scratch, plan.nodes)
        main()
        code = 0
    finally:
        if code:  # the jail or what is run in it failed to start: the keeper shows it as the worker's output
            traceback.print_exc()
        os._exit(code)


def _fresh_environment(environment: dict[str, str], scratch: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.environ.update(
        HOME=f"{scratch}/home",
        TMPDIR=f"{scratch}/tmp",
        XDG_CACHE_HOME=f"{scratch}/cache",
        TRITON_CACHE_DIR=f"{scratch}/cache/triton",
        TORCHINDUCTOR_CACHE_DIR=f"{scratch}/cache/inductor",
        TORCHINDUCTOR_COMPILE_THREADS="1",  # else dozens of processes, beside what is timed on other GPUs
        TORCH_EXTENSIONS_DIR=f"{scratch}/cache/extensions",
        CUDA_CACHE_PATH=f"{scratch}/cache/cuda",
        KBENCH_SCRATCH=scratch,
    )
    tempfile.tempdir = None
    os.chdir(f"{scratch}/solution")
    sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)


def _make_scratch(applied: frozenset[str]) -> str:
    scratch = SCRATCH if "mount" in applied else tempfile.mkdtemp(prefix="kbench-")
    for name in HOME_FOLDERS:
        Path(scratch, name).mkdir(parents=True, exist_ok=True)
    return scratch


def _close_all_but(keep: tuple[int, ...]) -> None:
    low = 0
    for fd in sorted(set(keep)):
        if low < fd:  # closerange(0, 0) closes everything
            os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 1 << 16)
