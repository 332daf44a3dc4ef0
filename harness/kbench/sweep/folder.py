"""The folder of a run: results, the leaderboards made of them, and what they were made with."""

from __future__ import annotations

import contextlib
import datetime
import time
from pathlib import Path
from typing import Any

import msgspec

import kbench
from kbench.errors import MachineFault
from kbench.records import Result
from kbench.report import board
from kbench.report.standing import baselines, groups
from kbench.sweep.events import Place
from kbench.sweep.store import FREE_SOME, Store, read

LEAST_S = 2.0  # between two writings of the leaderboards, unless the run is over


class Folder:
    """Keeps the leaderboards up with the results."""

    def __init__(self, path: Path, title: str) -> None:
        self.path = path
        self.title = title
        self.store = Store(path)
        self.results = [_slim(result) for result in read(path)]
        self._written = 0.0

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.__exit__()

    def add(self, result: Result) -> None:
        """The result first: leaderboards can be made again."""
        self.store.append(result)
        self.results.append(_slim(result))
        if time.monotonic() - self._written > LEAST_S:
            self.publish()

    def publish(self) -> None:
        """Writes the leaderboards, over each baseline in turn, each file by one rename."""
        found = [group for name in baselines(self.results) for group in groups(self.results, name)]
        self._replace("leaderboard.csv", board.as_csv(found))
        self._replace("leaderboard.md", board.as_markdown(found, self.title))
        self._written = time.monotonic()

    def describe(self, places: list[Place], asked: dict[str, Any]) -> None:
        """environment.json: where and with what this run is made."""
        now = datetime.datetime.now(datetime.UTC)
        told = {
            "kbench": kbench.__version__,
            "started": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "devices": [msgspec.to_builtins(device) for device, _ in places],
            "environment": msgspec.to_builtins(places[0][1]) if places else None,
            **asked,
        }
        self._replace("environment.json", msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n")

    def _replace(self, name: str, text: str) -> None:
        """Whole or not at all. Nobody else writes here, so what a kill leaves is written over the next time."""
        new = self.path / f".{name}.new"
        try:
            new.write_text(text, encoding="utf-8")
            new.replace(self.path / name)
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink()
            raise MachineFault(f"cannot write {self.path / name}: {error.strerror}", FREE_SOME) from None


def _slim(result: Result) -> Result:
    """Without what no leaderboard shows: a run of hundreds keeps them all in memory."""
    timing = msgspec.structs.replace(result.timing, samples_ms=(), telemetry=()) if result.timing else None
    baselines = {name: msgspec.structs.replace(one, samples_ms=()) for name, one in result.baselines.items()}
    return msgspec.structs.replace(result, timing=timing, baselines=baselines, log="", build=None)
