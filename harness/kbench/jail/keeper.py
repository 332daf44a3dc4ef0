"""The small init beside a jailed worker: drains its output, bounds its memory and processes, tells how it ended.

The keeper is the first process of the worker's PID namespace, so when it ends the kernel ends everything in
there. It ends when its control channel does. It is ours, unconfined, and cannot be traced or killed from inside.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from kbench.jail import linux
from kbench.jail.layers import Limits
from kbench.records import Record
from kbench.wire import Channel, Closed

LOG_BYTES = 64 * 1024
MAX_FAULT = 500
WATCH_SECONDS = 0.1
MOST_READS = 16
PAGE = os.sysconf("SC_PAGE_SIZE")


class PlaceFile(Record, frozen=True, tag=True):
    """Write `text` to `name` in the scratch."""

    name: str
    text: str


class PlaceFolder(Record, frozen=True, tag=True):
    """Copy a folder of the host, whose descriptor comes along, to `name` in the scratch."""

    name: str


class AskLog(Record, frozen=True, tag=True):
    pass


class Keep(Record, frozen=True, tag=True):
    """Copy the scratch into a folder of the host, whose descriptor comes along: by its name it is not seen here."""


class Freeze(Record, frozen=True, tag=True):
    """Stop every process in the jail, or let them go on."""

    on: bool


ToKeeper = PlaceFile | PlaceFolder | AskLog | Keep | Freeze


class Up(Record, frozen=True, tag=True):
    keeper: int


class Placed(Record, frozen=True, tag=True):
    path: str
    fault: str | None = None


class LogTail(Record, frozen=True, tag=True):
    text: str
    dropped: int


class Ended(Record, frozen=True, tag=True):
    """How the worker ended: its exit code or signal, and the limit of ours that ended it."""

    code: int | None
    signal: int | None
    limit: str | None


class Frozen(Record, frozen=True, tag=True):
    """Everything in the jail stands still. Going on is not confirmed."""


FromKeeper = Up | Placed | LogTail | Ended | Frozen


class Keeper:
    def __init__(self, control: Channel, output: int, worker: int, limits: Limits, scratch: str, owns_pids: bool):
        self.control = control
        self.output = output
        self.worker = worker
        self.limits = limits
        self.scratch = scratch
        self.owns_pids = owns_pids
        self.free_before = available_bytes()
        self.tail = bytearray()
        self.dropped = 0
        self.limit_hit: str | None = None
        self.ended = False
        self.reported = False

    def run(self) -> NoReturn:
        os.set_blocking(self.output, False)
        with contextlib.suppress(Closed):
            self._serve()
        self.end_all()
        os._exit(0)

    def _serve(self) -> None:
        watched = 0.0
        sources: list[int] = [self.control.fileno(), self.output]
        while True:
            ready = select.select(sources, [], [], WATCH_SECONDS)[0]
            if self.output in ready and not self._drain():
                sources = sources[:1]
            if self.control.fileno() in ready:
                self._answer(self.control.receive(ToKeeper, 10.0))
            if time.monotonic() - watched > WATCH_SECONDS:
                self._watch()
                watched = time.monotonic()
            self._reap()

    def _answer(self, message: ToKeeper) -> None:
        match message:
            case PlaceFile(name=name, text=text):
                self.control.send(_place(lambda path: _write(path, text), self.scratch, name))
            case PlaceFolder(name=name):
                with self._folder_of_host() as source:
                    self.control.send(_place(lambda path: _copy(source, path), self.scratch, name))
            case Keep():
                with self._folder_of_host() as target:
                    self.control.send(_place(lambda path: _copy_fresh(self.scratch, path), target, "scratch"))
            case Freeze(on=on):
                self._signal(signal.SIGSTOP if on else signal.SIGCONT)
                if on:
                    self.control.send(Frozen())
            case AskLog():
                for _ in range(MOST_READS):  # whoever writes without pause does not keep us here
                    if not self._drain(once=True):
                        break
                self.control.send(LogTail(text=self.tail.decode(errors="replace"), dropped=self.dropped))

    @contextlib.contextmanager
    def _folder_of_host(self) -> Iterator[str]:
        """The folder that came along, as a path."""
        (fd,) = self.control.take_fds(1)
        try:
            yield f"/proc/self/fd/{fd}"
        finally:
            os.close(fd)

    def _drain(self, once: bool = False) -> bool:
        """Reads what is there; False at the end of the output (or, with `once`, when nothing is left)."""
        try:
            data = os.read(self.output, 1 << 20)
        except BlockingIOError:
            return not once
        self.tail += data
        surplus = len(self.tail) - LOG_BYTES
        if surplus > 0:
            self.dropped += surplus
            del self.tail[:surplus]
        return bool(data)

    def _watch(self) -> None:
        if self.ended:
            return
        pids = self._pids()
        if len(pids) > self.limits.processes:
            self._hit("processes")
        elif self._exceeds(pids):
            self._hit("memory")

    def _exceeds(self, pids: list[int]) -> bool:
        # The sum counts pages that forked processes still share once for each of them, so the machine as a whole
        # must have lost as much too. Exact figures per process would wait for locks that a fork holds.
        limit = self.limits.memory_bytes
        return sum(map(_private_bytes, pids)) > limit and available_bytes() < self.free_before - limit

    def _hit(self, limit: str) -> None:
        self.limit_hit = limit
        self.kill_rest()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.worker:
                self._report(os.waitstatus_to_exitcode(status))

    def _report(self, code: int) -> None:
        self.ended = True
        self.kill_rest()
        number = -code if code < 0 else None
        self.control.send(Ended(code=None if code < 0 else code, signal=number, limit=self.limit_hit))

    def _signal(self, number: int) -> None:
        if self.owns_pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, number)
            return
        for pid in self._pids():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def kill_rest(self) -> None:
        if self.owns_pids:
            self._signal(signal.SIGKILL)
            return
        # Children of a killed process come to us as subreaper, so a few passes reach the whole tree.
        for _ in range(20):
            pids = self._pids()
            self._signal(signal.SIGKILL)
            if not pids:
                return
            time.sleep(0.005)

    def end_all(self) -> None:
        self.kill_rest()
        if not self.owns_pids:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _pids(self) -> list[int]:
        if self.owns_pids:
            return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and path.name != "1"]
        return _descendants(os.getpid())


def _descendants(root: int) -> list[int]:
    found: list[int] = []
    pending = [root]
    while pending:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{pending[-1]}/task/{pending[-1]}/children").read_text().split()
            pending[:0] = map(int, children)
            found += map(int, children)
        pending.pop()
    return found


def _private_bytes(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * PAGE


def available_bytes() -> int:
    """What the machine has left to give."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def _place(action: object, folder: str, name: str) -> Placed:
    path = Path(folder) / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        action(path)  # type: ignore[operator]
    except (OSError, RecursionError) as error:
        return Placed(path=str(path), fault=str(error)[:MAX_FAULT])
    return Placed(path=str(path))


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _copy(source: str, target: Path) -> None:
    """A folder of the host into the jail."""
    # Links are copied as links: this process may read what the one inside may not.
    shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True, ignore=_special_files)


def _copy_fresh(source: str, target: Path) -> None:
    """What a solution left, into the host, where nothing of it may lead elsewhere: without links, and into a folder
    that was not there before, since that may hold some."""
    numbered = (target.with_name(f"{target.name}-{number}") for number in itertools.count(2))
    fresh = next(path for path in itertools.chain((target,), numbered) if not os.path.lexists(path))
    shutil.copytree(source, fresh, symlinks=True, ignore=_links_and_special_files)


def _special_files(folder: str, names: list[str]) -> set[str]:
    paths = {name: Path(folder, name) for name in names}
    return {name for name, path in paths.items() if not (path.is_symlink() or path.is_dir() or path.is_file())}


def _links_and_special_files(folder: str, names: list[str]) -> set[str]:
    return _special_files(folder, names) | {name for name in names if Path(folder, name).is_symlink()}


def harden() -> None:
    """Nothing inside may read the keeper's memory or trace it."""
    linux.set_name("kbench.keeper")
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
