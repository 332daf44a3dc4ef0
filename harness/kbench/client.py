"""Asks a referee for results. Imports no torch: the problem never runs in this process."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from kbench import catalog
from kbench.device.names import check_name
from kbench.errors import KbenchError, MachineFault, RefereeDied
from kbench.hosted import START_S, Hosted
from kbench.records import Linted, Result
from kbench.referee.events import (
    Complete,
    Entered,
    Evaluate,
    Evaluated,
    FromReferee,
    Lint,
    Prepare,
    Prepared,
    Ready,
    Tell,
)
from kbench.settings import DEADLINES, LONGEST_WAIT_S, Settings, checked, deadlines

GRACE_S = 10.0


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
        self.root = catalog.find_root(root)
        told = device, ",".join(map(str, sorted(cores))), "gradients" if gradients else "", ",".join(without)
        self.host = Hosted(told, tied)

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
        watch: Tell = lambda _: None,
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
        self.start(watch)
        with self._answered():
            self.host.send(message)
            return self._collect(message, watch, found)

    def build(self, solution: str | Path, arch_list: str, settings: Settings, problem: Path | None = None) -> Prepared:
        """Builds a solution's extensions ahead of time; nothing of it is called."""
        path = catalog.locate(str(solution), "solutions", self.root)
        identity = catalog.identity(path, "solutions", self.root)
        problem = problem or catalog.problem_of(identity, self.root)
        message = Prepare(
            solution=str(path),
            solution_id=identity,
            problem=str(problem) if problem else None,
            problem_id=catalog.identity(problem, "problems", self.root) if problem else None,
            arch_list=arch_list,
            settings=settings,
        )
        self.start()
        patience = 4 * DEADLINES["cuda"]["build"] + LONGEST_WAIT_S
        with self._answered():
            self.host.send(message)
            while not isinstance(answer := self.host.receive(patience), Prepared):
                pass
            self.host.receive(START_S)
        return answer

    def lint(self, problem: str | Path, workloads: Iterable[str] = ()) -> list[Linted]:
        """Looks for what makes a problem easy to cheat."""
        path = catalog.locate(str(problem), "problems", self.root)
        message = Lint(str(path), catalog.identity(path, "problems", self.root), tuple(workloads))
        self.start()
        found: list[Linted] = []
        with self._answered():
            self.host.send(message)
            while not isinstance(answer := self._patiently(str(path)), Complete):
                if isinstance(answer, Linted):
                    found.append(answer)
        return found

    def start(self, watch: Tell = lambda _: None) -> Ready:
        """Makes sure that it is up; what it found there."""
        self.host.start(watch)
        assert self.host.ready
        return self.host.ready

    def close(self) -> None:
        """Ends the referee and everything it started, and waits until it is gone."""
        self.host.close()

    @contextlib.contextmanager
    def _answered(self) -> Iterator[None]:
        """A referee that answered is as good as before; any other may be in the middle of something."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, KbenchError) or isinstance(error, RefereeDied) or self.host.entered.limit_s:
                self.close()
            raise
        self.host.entered = Entered("done")

    def _patiently(self, problem: str) -> FromReferee:
        return self.host.receive(self.host.entered.limit_s or START_S, problem)

    def _collect(self, asked: Evaluate, watch: Tell, found: Callable[[Result], None]) -> list[Result]:
        results: list[Result] = []
        longest = deadlines(asked.settings, "cuda")
        patience = longest["total"] + 2 * longest["build"] + LONGEST_WAIT_S
        while True:
            entered = self.host.entered
            limit = entered.limit_s
            wait = limit + GRACE_S if limit else None if entered.stage == "lease" else patience
            message = self.host.receive(wait, asked.problem)
            if isinstance(message, Evaluated):
                results.append(message.result)
                found(message.result)
            elif isinstance(message, Entered):
                watch(message)
            elif isinstance(message, Complete):
                return results


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
