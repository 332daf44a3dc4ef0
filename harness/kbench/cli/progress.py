"""What is going on, on stderr: a moving line for people, nothing but what one must know for pipes."""

from __future__ import annotations

import sys
from typing import Any

from kbench.referee.events import Entered

STAGES = {
    "start": "starting",
    "problem": "running the reference",
    "load": "building and loading",
    "check": "checking",
    "time": "timing",
}


class Progress:
    def __init__(self) -> None:
        self._status: Any = None
        self._told = ""

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.status import Status

            self._status = Status("starting", console=Console(stderr=True))
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def enter(self, entered: Entered) -> None:
        said = STAGES.get(entered.stage)
        if entered.stage == "lease":
            said = f"waiting for the device: held by process {entered.detail}"
            if not self._status:
                print(f"kbench: {said}", file=sys.stderr, flush=True)
        if self._status and said:
            self._status.update(said)
            self._status.start()

    def pause(self) -> None:
        """Before something is printed."""
        if self._status:
            self._status.stop()
