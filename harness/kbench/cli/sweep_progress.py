"""What a sweep is doing, on stderr: for people a picture that moves, for pipes a line a result."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from kbench import units
from kbench.cli.progress import STAGES
from kbench.errors import KbenchError
from kbench.report import text
from kbench.sweep.estimate import Pace
from kbench.sweep.events import Entered, Faulted, Finished, Lost
from kbench.sweep.pair import Pair
from kbench.sweep.run import Watcher
from kbench.sweep.schedule import kind_of


def progress() -> Watcher:
    return Picture() if sys.stderr and sys.stderr.isatty() else Lines()


class Lines:
    """One line a result."""

    def __init__(self) -> None:
        self._total = 0
        self._count = 0

    def began(self, todo: Sequence[Pair], done: int, devices: Sequence[str]) -> None:
        self._total = len(todo)
        already = f", {done} done already" if done else ""
        self._say(f"{units.plural(len(todo), 'pair')} on {', '.join(devices)}{already}")

    def entered(self, event: Entered) -> None:
        if event.stage == "lease":
            self._say(f"{event.device}: another process has it; waiting")

    def finished(self, event: Finished) -> None:
        self._count += 1
        self._say(f"[{self._count}/{self._total}] {_line(event)}")

    def faulted(self, event: Faulted) -> None:
        what = "will be tried again" if event.again else "not judged"
        self._say(f"{event.device}: {event.pair.name}: {what}: {_short(event.fault)}")

    def lost(self, event: Lost) -> None:
        self._say(f"{event.device} cannot be used: {_short(event.fault)}")

    def stopping(self, why: str) -> None:
        self._say(f"{why}: finishing what is being timed; Ctrl-C again stops at once")

    def close(self) -> None:
        pass

    def _say(self, line: str) -> None:
        # Who does not listen any more does not end the run.
        with contextlib.suppress(OSError):
            if sys.stderr:
                print(units.printable(line), file=sys.stderr, flush=True)


class Picture(Lines):
    """Counts, what each device does, and the time left; results scroll by above."""

    def __init__(self) -> None:
        super().__init__()
        self._pace = Pace()
        self._verdicts: Counter[str] = Counter()
        self._todo: list[Pair] = []
        self._doing: dict[str, str] = {}
        self._began = time.monotonic()
        self._live: Any = None

    def began(self, todo: Sequence[Pair], done: int, devices: Sequence[str]) -> None:
        from rich.console import Console
        from rich.live import Live

        super().began(todo, done, devices)
        self._todo = list(todo)
        self._doing = dict.fromkeys(devices, "waiting for a build")
        self._live = Live(get_renderable=self._render, console=Console(stderr=True), refresh_per_second=4)
        self._live.start()

    def entered(self, event: Entered) -> None:
        stage = "waiting for the device" if event.stage == "lease" else STAGES.get(event.stage)
        if stage is None and event.stage.startswith("compile"):
            stage = f"measuring the {event.stage} baseline"
        if stage:
            self._doing[event.device] = f"{event.pair.name}: {stage}"

    def finished(self, event: Finished) -> None:
        self._pace.note(event.result)
        self._verdicts[event.result.verdict] += 1
        self._todo.remove(event.pair)
        self._doing[event.device] = "waiting"
        super().finished(event)

    def faulted(self, event: Faulted) -> None:
        if not event.again:
            self._todo.remove(event.pair)
        super().faulted(event)

    def lost(self, event: Lost) -> None:
        self._doing.pop(event.device, None)
        super().lost(event)

    def close(self) -> None:
        if self._live:
            self._live.stop()

    def _render(self) -> Any:
        from rich.text import Text

        lanes = Counter(kind_of(device) for device in self._doing)
        left = self._pace.left(self._todo, lanes)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(self._verdicts.items()))
        spent = time.monotonic() - self._began
        head = f"{self._count} of {self._total}{': ' + counts if counts else ''}; {span(spent)} so far"
        head += f", about {span(left)} left" if self._todo else ""
        lines = [head, *(f"  {device}  {what}" for device, what in self._doing.items())]
        return Text("\n".join(units.printable(line) for line in lines), no_wrap=True, overflow="ellipsis")

    def _say(self, line: str) -> None:
        from rich.text import Text

        if self._live:
            self._live.console.print(Text(units.printable(line)))
        else:
            super()._say(line)


def span(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _line(event: Finished) -> str:
    where = "" if event.device == "cpu" else f"  ({event.device})"
    return f"{event.pair.name}{where}  {text.verdict_line(event.result)}"


def _short(fault: KbenchError) -> str:
    return fault.message.splitlines()[0]
