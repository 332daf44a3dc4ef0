"""One compilation in a jail: the order goes in, what was made comes out, and how it ended where nothing does."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from kbench import machine
from kbench.build import job, standins
from kbench.jail import landlock
from kbench.jail.launch import Plan
from kbench.jail.layers import Limits
from kbench.jail.orders import Ended, FromKeeper
from kbench.jail.zygote import fork_worker
from kbench.wire import Channel, Closed, Late, Malformed, pair

MEMORY_BYTES = 16 * 2**30
MEMORY_SHARE = 0.5
MAX_ARTIFACT = 512 * 2**20
COMPILER_NICE = 5  # below whatever is being timed
MAX_KERNELS = 1000
MAX_NAME = 400


def compiled(layers: tuple[str, ...], order: job.Order, seconds: float, glue: Path | None) -> job.Made:
    control, keeper_end = pair()
    work, job_end = pair()
    work.limit = MAX_ARTIFACT
    fork_worker(_plan(layers), keeper_end.fileno(), job_end.fileno(), job.run)
    keeper_end.close()
    job_end.close()
    try:
        with opened([glue] if glue else []) as fds:
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


@contextlib.contextmanager
def opened(paths: list[Path]) -> Iterator[list[int]]:
    fds: list[int] = []
    try:
        fds.extend(os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths)
        yield fds
    finally:
        for fd in fds:
            os.close(fd)
