"""A clean process that only imported: it forks workers on request, in about 30 ms, and knows no secrets."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
from collections.abc import Callable
from typing import NoReturn

from kbench.jail import linux
from kbench.jail.launch import Plan, launch
from kbench.records import Record
from kbench.wire import Channel, Closed


class Spawn(Record, frozen=True, tag=True):
    """Start one worker; its control and work sockets come along."""

    plan: Plan


class Import(Record, frozen=True, tag=True):
    """Import a module, so that no later worker has to."""

    module: str


def serve(requests: Channel, main: Callable[[Channel], None]) -> NoReturn:
    """The zygote's life. Ends when the channel does."""
    linux.set_name("kbench.zygote")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # launchers are not waited for here
    with contextlib.suppress(Closed):
        while True:
            request = requests.receive(Spawn | Import)
            if isinstance(request, Import):
                importlib.import_module(request.module)
                continue
            control, work = requests.take_fds(2)
            fork_worker(request.plan, control, work, main)
            os.close(control)
            os.close(work)
    os._exit(0)


def fork_worker(plan: Plan, control: int, work: int, main: Callable[[Channel], None]) -> int:
    """Forks a launcher from this process and returns its pid."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        # Descriptors are closed by number below. A socket object of our parent's that is collected later would close
        # whatever has got its number since.
        gc.freeze()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        keeper_end = Channel(socket.socket(fileno=control), accept_fds=True)
        launch(
            plan,
            parent,
            keeper_end,
            (work,),
            lambda: main(Channel(socket.socket(fileno=work), accept_fds=True)),
        )
    return pid
