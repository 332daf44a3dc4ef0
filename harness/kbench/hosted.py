"""The process behind a `Referee`: started when it is needed, talked with, and told apart by how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import IO

from kbench.errors import BY_NAME, REPORT_IT, KbenchError, ProblemFault, RefereeDied
from kbench.referee.events import Entered, Failed, FromReferee, Ready, Tell, ToReferee
from kbench.wire import Channel, Closed, Late

START_S = 180.0
END_S = 5.0
MOST_NOISE = 8000
# numpy's threads would be alive when the zygote forks.
# torch.utils.cpp_extension asks on import whether CUDA is there: through NVML, or no fork could use CUDA later.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}


class Hosted:
    """One that runs `kbench.host`, or will."""

    def __init__(self, words: Sequence[str], tied: bool) -> None:
        """`words` are those that the host is told; with `tied` it also ends with the thread that starts it."""
        self.words = words
        self.tied = tied
        self.ready: Ready | None = None
        self.entered = Entered("start")  # the stage that it said last
        self.process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._noise: IO[bytes] | None = None

    def start(self, tell: Tell) -> None:
        """Makes sure that it is up."""
        if self.process and self.process.poll() is None:
            return
        self.close()
        ours, theirs = socket.socketpair()
        self._spawn(theirs.fileno())
        theirs.close()
        self._channel = Channel(ours)
        self.entered = Entered("start")
        tell(self.entered)
        ready = self.receive(START_S)
        assert isinstance(ready, Ready)
        self.ready = ready

    def send(self, message: ToReferee) -> None:
        assert self._channel
        try:
            self._channel.send(message)
        except Closed:
            raise self._died() from None

    def receive(self, timeout: float | None, problem: str = "") -> FromReferee:
        """The next message. That it failed is raised, and so is that it ended or does not answer."""
        assert self._channel
        try:
            message: FromReferee = self._channel.receive(FromReferee, timeout)
        except Late:
            raise self._late(problem) from None
        except Closed:
            raise self._died(problem) from None
        if isinstance(message, Failed):
            if self.entered.stage != "start":
                self.entered = Entered("done")
            raise BY_NAME[message.kind](message.message, message.fix)
        if isinstance(message, Entered):
            self.entered = message
        return message

    def close(self) -> None:
        """Ends it and everything it started, and waits until it is gone."""
        if self._channel:
            self._channel.close()
        if self.process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(END_S if self.entered.stage == "done" else 0.05)
            self.process.kill()
            self.process.wait()
        if self._noise:
            self._noise.close()
        self.process = self._channel = self._noise = None

    def _spawn(self, fd: int) -> None:
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the process that writes to it
        # The death signal is bound to the thread that forks.
        bound = self.tied or threading.current_thread() is threading.main_thread()
        parent = str(os.getpid() if bound else 0)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "kbench.host", str(fd), parent, *self.words],
            pass_fds=(fd,),
            stdin=subprocess.DEVNULL,
            stdout=self._noise,
            stderr=self._noise,
            start_new_session=True,
            env={**os.environ, **ENVIRONMENT},
        )

    def _late(self, problem: str) -> KbenchError:
        if self.entered.limit_s:
            what = f"{problem}: it hangs {self.entered.detail}: more than {self.entered.limit_s:g} s"
            return ProblemFault(
                what, "mend the problem, or give it time: kbench eval and kbench run take --timeout load=SECONDS"
            )
        return RefereeDied(f"the referee does not answer in stage {self.entered.stage}", REPORT_IT)

    def _died(self, problem: str = "") -> KbenchError:
        assert self.process
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(END_S)
        how = _how(self.process.poll())
        if self.entered.limit_s:
            what = f"{problem}: it ends the process ({how}) {self.entered.detail}"
            return ProblemFault(what, "a problem file must neither exit nor crash")
        return RefereeDied(f"the referee ended ({how}) in stage {self.entered.stage}\n{self._tail()}", REPORT_IT)

    def _tail(self) -> str:
        if not self._noise:
            return ""
        self._noise.seek(0)
        return self._noise.read()[-MOST_NOISE:].decode(errors="replace")


def _how(code: int | None) -> str:
    if code is None:
        return "no exit code"
    return f"by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
