"""What the command line and the referee's process say to each other. Both sides are ours."""

from __future__ import annotations

from collections.abc import Callable

from kbench.records import Build, DeviceInfo, Environment, Linted, Record, Result, Settings


class Evaluate(Record, frozen=True, tag=True):
    """One pair, in one or several workloads."""

    problem: str
    problem_id: str
    solution: str
    solution_id: str
    workloads: tuple[str, ...]
    settings: Settings
    more: bool = False  # others follow: keep spare workers ready


class Prepare(Record, frozen=True, tag=True):
    """Build a solution's extensions ahead of time; construct it too where its problem is known."""

    solution: str
    solution_id: str
    problem: str | None
    problem_id: str | None
    arch_list: str
    settings: Settings


class Lint(Record, frozen=True, tag=True):
    """Look for what makes a problem easy to cheat."""

    problem: str
    problem_id: str
    workloads: tuple[str, ...]


class Entered(Record, frozen=True, tag=True):
    """A stage began. With `limit_s` the problem's own code runs, which may hang or end the referee."""

    stage: str
    detail: str = ""
    limit_s: float | None = None


Tell = Callable[[Entered], None]


class Evaluated(Record, frozen=True, tag=True):
    """The result of one workload."""

    result: Result


class Prepared(Record, frozen=True, tag=True):
    """What became of a solution's builds. `note` says why it got no further than it did."""

    solution: str
    build: Build
    failed: bool
    note: str | None


class Failed(Record, frozen=True, tag=True):
    """A KbenchError by name."""

    kind: str
    message: str
    fix: str | None


class Complete(Record, frozen=True, tag=True):
    """All workloads are done."""


class Ready(Record, frozen=True, tag=True):
    """The referee is up, on this device."""

    device: DeviceInfo
    environment: Environment


ToReferee = Evaluate | Prepare | Lint
FromReferee = Entered | Evaluated | Prepared | Linted | Failed | Complete | Ready
