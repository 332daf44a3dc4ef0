"""What a referee asks of a keeper, and what a keeper tells."""

from __future__ import annotations

from kbench.records import Record


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
    """Stop every process in the jail, or let them go on.

    `settled`: and answer when all have stopped. `watched`: and see besides whether any goes on before it may.
    """

    on: bool
    settled: bool = False
    watched: bool = False


ToKeeper = PlaceFile | PlaceFolder | AskLog | Keep | Freeze


class Up(Record, frozen=True, tag=True):
    """The keeper is there, and the jail around it."""


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
    """Everything in the jail stands still. Going on is not confirmed.

    `broken` says how often something went on while it was stopped, this time not counted.
    """

    broken: int


FromKeeper = Up | Placed | LogTail | Ended | Frozen
