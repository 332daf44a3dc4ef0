"""One run: what is done already is left alone, the rest is handed to the crew, every result is saved as it comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from kbench.errors import KbenchError, UsageFault
from kbench.records import Result, comparable
from kbench.sweep.crew import Crew
from kbench.sweep.events import Broken, Entered, Event, Faulted, Finished, Interrupted, Joined, Left, Lost, Place
from kbench.sweep.folder import Folder
from kbench.sweep.pair import Kind, Pair, key
from kbench.sweep.schedule import Schedule, kind_of

Rerun = Literal["failed", "noisy", "all"]
RERUNS: tuple[Rerun, ...] = ("failed", "noisy", "all")


class Watcher(Protocol):
    """Who is told what happens."""

    def began(self, todo: Sequence[Pair], done: int, devices: Sequence[str]) -> None: ...

    def entered(self, event: Entered) -> None: ...

    def finished(self, event: Finished) -> None: ...

    def faulted(self, event: Faulted) -> None: ...

    def lost(self, event: Lost) -> None: ...

    def stopping(self, why: str) -> None: ...

    def close(self) -> None: ...


@dataclass
class Tally:
    """How it ended. `unjudged` are pairs that no result says anything of, and why."""

    results: list[Result] = field(default_factory=list)  # of all pairs asked for, earlier ones included
    fresh: int = 0
    unjudged: list[tuple[Pair, KbenchError]] = field(default_factory=list)
    left: int = 0  # pairs that were not reached
    stopped: str | None = None
    interrupted: bool = False


class Sweep:
    def __init__(
        self,
        crew: Crew,
        devices: list[str],
        retries: int,
        watcher: Watcher,
        rerun: Rerun | None = None,
        max_failures: int | None = None,
    ) -> None:
        self.crew = crew
        self.devices = devices
        self.retries = retries
        self.watcher = watcher
        self.rerun = rerun
        self.max_failures = max_failures
        self.tally = Tally()
        self._failures = 0
        self._missing: dict[Kind, KbenchError] = {}  # kinds of device that did not come up, and why
        self._active: set[str] = set()

    def gather(self) -> dict[str, Place]:
        """Brings the devices up. Those that cannot be used are lost; with none left that is raised."""
        self.crew.start(self.devices)
        places: dict[str, Place] = {}
        for _ in self.devices:
            event = self.crew.events.get()
            if isinstance(event, Joined):
                places[event.device] = event.place
            elif isinstance(event, Lost):
                self.watcher.lost(event)
                last = event.fault
                self._missing[kind_of(event.device)] = event.fault
            else:
                self._raise(event)
        if not places:
            raise last
        _demand_alike(places)
        return places

    def run(self, pairs: list[Pair], places: dict[str, Place], folder: Folder) -> Tally:
        """Everything that is left, on devices that are up. Ends when all is done, or a stop has taken effect."""
        by_kind = {kind_of(name): place for name, place in places.items()}
        able = [pair for pair in pairs if pair.device in by_kind]
        absent = [pair for pair in pairs if pair.device not in by_kind]
        self.tally.unjudged += [(pair, self._missing[pair.device]) for pair in absent]
        done = done_before(able, by_kind, folder.results, self.rerun)
        self.tally.results = list(done.values())
        todo = [pair for pair in able if key(pair, *by_kind[pair.device]) not in done]
        schedule = Schedule(todo, self.retries, able)
        for device in places:
            schedule.join(device)
        self.watcher.began(todo, len(done), list(places))
        self._active = set(places)
        self.crew.work(schedule)
        while self._active:
            self._on(self.crew.events.get(), folder)
        self.tally.left = schedule.left
        return self.tally

    def _on(self, event: Event, folder: Folder) -> None:
        if isinstance(event, Finished):
            self._save(event, folder)
        elif isinstance(event, Entered):
            self.watcher.entered(event)
        elif isinstance(event, Faulted):
            self.watcher.faulted(event)
            if not event.again:
                self.tally.unjudged.append((event.pair, event.fault))
        elif isinstance(event, Lost):
            self._active.discard(event.device)
            self.watcher.lost(event)
            self.tally.unjudged += [(pair, event.fault) for pair in event.orphans]
        elif isinstance(event, Left):
            self._active.discard(event.device)
        elif isinstance(event, Interrupted):
            self.tally.interrupted = True
            self._stop("interrupted")
        else:
            self._raise(event)

    def _save(self, event: Finished, folder: Folder) -> None:
        folder.add(event.result)
        self.tally.results.append(event.result)
        self.tally.fresh += 1
        self.watcher.finished(event)
        self._failures += not event.result.passed
        if self.max_failures and self._failures >= self.max_failures:
            self._stop(f"{self._failures} solutions did not pass")

    def _stop(self, why: str) -> None:
        if self.tally.stopped is None:
            self.tally.stopped = why
            self.watcher.stopping(why)
        self.crew.stop(why)

    def _raise(self, event: Event) -> None:
        if isinstance(event, Broken):
            raise event.error
        raise AssertionError(f"{type(event).__name__} comes at the wrong time")


def done_before(
    pairs: Iterable[Pair], places: Mapping[Kind, Place], results: Iterable[Result], rerun: Rerun | None
) -> dict[str, Result]:
    """The results that stand, by key: of the same problem, solution, settings and environment."""
    keys = {key(pair, *places[pair.device]) for pair in pairs}
    known = {result.run.key: result for result in results if result.run and result.run.key in keys}
    return {name: result for name, result in known.items() if not _again(result, rerun)}


def _again(result: Result, rerun: Rerun | None) -> bool:
    if rerun == "failed":
        return not result.passed
    if rerun == "noisy":
        return any(warning.code == "noisy" for warning in result.warnings)
    return rerun == "all"


def _demand_alike(places: dict[str, Place]) -> None:
    """Times of different GPUs do not belong into one table, and a pair runs on whichever is free."""
    gpus = {name: comparable(*place)[0] for name, place in places.items() if name != "cpu"}
    if len(set(map(repr, gpus.values()))) > 1:
        listed = ", ".join(f"{name} is {device.name}" for name, device in gpus.items())
        raise UsageFault(f"the GPUs differ: {listed}", "name those of one kind, for instance --device cuda:0")
