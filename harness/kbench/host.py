"""The process behind `kbench eval`: imports torch once, splits off zygote and builder, goes on as the referee.

Both are forked before anything of a problem or a solution, any secret or any CUDA exists, so workers that the
zygote forks later start in 30 ms and know nothing.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

from kbench.jail import linux, zygote
from kbench.wire import Channel, Closed, pair


def main(arguments: list[str]) -> None:
    fd, parent, device, cores, gradients, without = int(arguments[0]), int(arguments[1]), *arguments[2:]
    if parent:
        linux.die_with_parent(parent)  # at once: what is imported next takes seconds
    import torch.utils.cpp_extension  # noqa: F401  here, so that no worker pays for it

    import kbench.referee.main
    import kbench.worker.main
    from kbench.build import builder
    from kbench.referee.staff import FOR_GRADIENTS

    if cores:
        os.sched_setaffinity(0, map(int, cores.split(",")))
    linux.set_name("kbench.referee")
    if gradients:
        importlib.import_module(FOR_GRADIENTS)
    client = Channel(socket.socket(fileno=fd))
    to_zygote = _split_off(lambda requests: zygote.serve(requests, kbench.worker.main.run), (client,), accepts=True)
    to_builder = _split_off(builder.serve, (client, to_zygote), accepts=False)
    to_builder.accept_fds = True
    try:
        left_out = frozenset(filter(None, without.split(",")))
        kbench.referee.main.serve(client, to_zygote, to_builder, device, left_out)
    except Closed:
        os._exit(0)


def _split_off(serve: Callable[[Channel], NoReturn], foreign: tuple[Channel, ...], accepts: bool) -> Channel:
    """Forks a process that serves one end of a new channel, and returns the other."""
    ours, theirs = pair(right_accepts_fds=accepts)
    parent = os.getpid()
    if os.fork() == 0:
        linux.die_with_parent(parent)
        for channel in (*foreign, ours):
            channel.close()
        serve(theirs)
    theirs.close()
    return ours


if __name__ == "__main__":
    main(sys.argv[1:])
