"""Starts a referee and asks it for results. Imports no torch: the problem never runs in this process."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

from kbench import catalog
from kbench.device.names import check_name
from kbench.errors import BY_NAME, KbenchError, MachineFault, ProblemFault, RefereeDied
from kbench.records import Linted, Result
from kbench.referee.events import (
    Complete,
    Entered,
    Evaluate,
    Failed,
    Finding,
    FromReferee,
    Lint,
    Prepare,
    Prepared,
    Ready,
    ToReferee,
)
from kbench.settings import DEADLINES, LONGEST_WAIT_S, Settings, checked
from kbench.wire import Channel, Closed, Late

START_S = 180.0
GRACE_S = 10.0
END_S = 5.0
# numpy's threads would be alive when the zygote forks. And threads that wait for work must not spin for long:
# those of one process would take the cores that the timed work of another needs.
# torch.utils.cpp_extension asks on import whether CUDA is there: through NVML, or no fork could use CUDA later.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}

Watch = Callable[[Entered], None]


class Referee:
    """A warm referee for one device: `with Referee("cpu") as referee: referee.evaluate(...)`."""

    def __init__(
        self,
        device: str = "auto",
        root: str | None = None,
        cores: Iterable[int] = (),
        tied: bool = False,
        gradients: bool = False,
        without: Iterable[str] = (),
    ) -> None:
        """`cores` are those that it may use; with `tied` it also ends with the thread that starts it.

        `gradients` says that some problem will ask for them: what that needs is then imported once, at the start.
        The jail is made `without` these layers: to try what holds on a machine that lacks them.
        """
        check_name(device)
        if sys.platform != "linux":
            raise MachineFault("kbench runs on Linux only", "use a Linux machine")
        self.device = device
        self.cores = ",".join(map(str, sorted(cores)))
        self.tied = tied
        self.gradients = gradients
        self.without = ",".join(without)
        self.ready: Ready | None = None
        self.root = catalog.find_root(root)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._noise: IO[bytes] | None = None
        self._entered = Entered("start")

    def __enter__(self) -> Referee:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def evaluate(
        self,
        problem: str | Path,
        solution: str | Path,
        workloads: Iterable[str] = (),
        settings: Settings | None = None,
        watch: Watch = lambda _: None,
        found: Callable[[Result], None] = lambda _: None,
        more: bool = True,
        named: str | None = None,
    ) -> list[Result]:
        """One result a workload. Raises a KbenchError for faults that are not the solution's.

        `named` is what the result calls the solution, instead of its place below the root.
        """
        asked = checked(settings or Settings(device=self.device))
        problem_path = catalog.locate(str(problem), "problems", self.root)
        solution_path = catalog.locate(str(solution), "solutions", self.root)
        message = Evaluate(
            problem=str(problem_path),
            problem_id=catalog.identity(problem_path, "problems", self.root),
            solution=str(solution_path),
            solution_id=named or catalog.identity(solution_path, "solutions", self.root),
            workloads=tuple(workloads),
            settings=asked,
            more=more,
        )
        self._start(watch)
        try:
            self._send(message)
            return self._collect(message, watch, found)
        except BaseException as error:
            # A referee that answered is as good as before; any other may be in the middle of something.
            if not isinstance(error, KbenchError) or isinstance(error, RefereeDied) or self._entered.limit_s:
                self.close()
            raise

    def build(self, solution: str | Path, arch_list: str, settings: Settings, problem: Path | None = None) -> Prepared:
        """Builds a solution's extensions ahead of time; nothing of it is called."""
        path = catalog.locate(str(solution), "solutions", self.root)
        identity = catalog.identity(path, "solutions", self.root)
        problem = problem or catalog.problem_of(identity, self.root)
        self._start(lambda _: None)
        self._send(
            Prepare(
                solution=str(path),
                solution_id=identity,
                problem=str(problem) if problem else None,
                problem_id=catalog.identity(problem, "problems", self.root) if problem else None,
                arch_list=arch_list,
                settings=settings,
            )
        )
        patience = 4 * DEADLINES["cuda"]["build"] + LONGEST_WAIT_S
        try:
            while not isinstance(message := self._receive(patience), Prepared):
                pass
            self._receive(START_S)
        except BaseException as error:
            # One that did not answer in time may still answer, in the place of the next one.
            if not isinstance(error, KbenchError) or isinstance(error, RefereeDied):
                self.close()
            raise
        self._entered = Entered("done")
        return message

    def lint(self, problem: str | Path, workloads: Iterable[str] = ()) -> list[Linted]:
        """Looks for what makes a problem easy to cheat."""
        path = catalog.locate(str(problem), "problems", self.root)
        self._start(lambda _: None)
        self._send(Lint(str(path), catalog.identity(path, "problems", self.root), tuple(workloads)))
        found: list[Linted] = []
        try:
            while not isinstance(message := self._receive(self._entered.limit_s or START_S, str(path)), Complete):
                if isinstance(message, Linted):
                    found.append(message)
                elif isinstance(message, Entered):
                    self._entered = message
        except BaseException:
            self.close()
            raise
        self._entered = Entered("done")
        return found

    def start(self, watch: Watch = lambda _: None) -> Ready:
        """Makes sure that it is up; what it found there."""
        self._start(watch)
        assert self.ready
        return self.ready

    def close(self) -> None:
        """Ends the referee and everything it started, and waits until it is gone."""
        if self._channel:
            self._channel.close()
        if self._process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S if self._entered.stage == "done" else 0.05)
            self._process.kill()
            self._process.wait()
        if self._noise:
            self._noise.close()
        self._process = self._channel = self._noise = None

    def _start(self, watch: Watch) -> None:
        if self._process and self._process.poll() is None:
            return
        self.close()
        ours, theirs = socket.socketpair()
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the process that writes to it
        # The death signal is bound to the thread that forks.
        bound = self.tied or threading.current_thread() is threading.main_thread()
        parent = str(os.getpid() if bound else 0)
        gradients = "gradients" if self.gradients else ""
        told = [str(theirs.fileno()), parent, self.device, self.cores, gradients, self.without]
        command = [sys.executable, "-P", "-m", "kbench.host", *told]
        self._process = subprocess.Popen(
            command,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=self._noise,
            stderr=self._noise,
            start_new_session=True,
            env={**os.environ, **ENVIRONMENT},
        )
        theirs.close()
        self._channel = Channel(ours)
        self._entered = Entered("start")
        watch(self._entered)
        ready = self._receive(START_S)
        assert isinstance(ready, Ready)
        self.ready = ready

    def _collect(self, asked: Evaluate, watch: Watch, found: Callable[[Result], None]) -> list[Result]:
        results: list[Result] = []
        longest = {**DEADLINES["cuda"], **asked.settings.timeouts}
        patience = longest["total"] + 2 * longest["build"] + LONGEST_WAIT_S
        while True:
            limit = self._entered.limit_s
            wait = limit + GRACE_S if limit else None if self._entered.stage == "lease" else patience
            message = self._receive(wait, asked.problem)
            if isinstance(message, Finding):
                results.append(message.result)
                found(message.result)
            elif isinstance(message, Entered):
                self._entered = message
                watch(message)
            elif isinstance(message, Complete):
                self._entered = Entered("done")
                return results

    def _send(self, message: ToReferee) -> None:
        assert self._channel
        try:
            self._channel.send(message)
        except Closed:
            raise self._died("start") from None

    def _receive(self, timeout: float | None, problem: str = "") -> FromReferee:
        assert self._channel
        try:
            message: FromReferee = self._channel.receive(FromReferee, timeout)
        except Late:
            raise self._late(problem) from None
        except Closed:
            raise self._died(problem) from None
        if isinstance(message, Failed):
            if self._entered.stage != "start":
                self._entered = Entered("done")
            raise BY_NAME[message.kind](message.message, message.fix)
        return message

    def _late(self, problem: str) -> KbenchError:
        if self._entered.limit_s:
            what = f"{problem}: it hangs {self._entered.detail}: more than {self._entered.limit_s:g} s"
            return ProblemFault(what, "mend the problem, or raise --timeout load=SECONDS")
        return RefereeDied(f"the referee does not answer in stage {self._entered.stage}", _report_it())

    def _died(self, problem: str) -> KbenchError:
        assert self._process
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        code = self._process.poll()
        how = _how(code)
        if self._entered.limit_s:
            what = f"{problem}: it ends the process ({how}) {self._entered.detail}"
            return ProblemFault(what, "a problem file must neither exit nor crash")
        return RefereeDied(f"the referee ended ({how}) in stage {self._entered.stage}\n{self._tail()}", _report_it())

    def _tail(self) -> str:
        if not self._noise:
            return ""
        self._noise.seek(0)
        return self._noise.read()[-8000:].decode(errors="replace")


def evaluate(
    problem: str | Path,
    solution: str | Path,
    *,
    workload: str | None = None,
    device: str = "auto",
    root: str | None = None,
    **options: Any,
) -> Result:
    """Evaluates one pair in one workload. `options` are the fields of `kbench.Settings`."""
    settings = Settings(device=device, **options)
    with Referee(device, root) as referee:
        workloads = (workload,) if workload else ()
        return referee.evaluate(problem, solution, workloads, settings, more=False)[0]


def _how(code: int | None) -> str:
    if code is None:
        return "no exit code"
    return f"by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _report_it() -> str:
    return "this is a bug in kbench; please report it with the output of kbench doctor --report"
