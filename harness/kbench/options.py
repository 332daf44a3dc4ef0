"""What a setting is: one name in YAML, as an option and in the environment, what it takes and what it means."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from typing import Any, Literal

from kbench.records import Record

Kind = Literal["count", "number", "flag", "word", "words", "seconds"]
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


class Option(Record, frozen=True):
    name: str
    field: str
    kind: Kind
    help: str
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    above: bool = False  # more than `least`, not `least` itself
    metavar: str | None = None
    shown: str | None = None  # the default, where --help has to say it in words

    @property
    def variable(self) -> str:
        return "KBENCH_" + self.name.upper().replace("-", "_")

    @property
    def many(self) -> bool:
        return self.kind in ("words", "seconds")

    def value(self, text: str) -> Any:
        """What one piece of text means here; a ValueError says what is wrong with it."""
        if self.kind == "flag":
            return _flag(text)
        if self.kind in ("count", "number"):
            value = self._bounded(_number(text, whole=self.kind == "count"))
            return value if self.kind == "count" else float(value)
        if self.kind == "seconds":
            return self._seconds(text)
        if not text:
            raise ValueError("is empty")
        if self.choices and text not in self.choices:
            raise ValueError(f"{text!r} is not known{nearest(text, self.choices)}; it is {one_of(self.choices)}")
        return text

    def complaint(self, value: Any) -> str | None:
        """What is wrong with a value that is already one; None where nothing is."""
        try:
            for text in _texts(value):
                self.value(text)
        except ValueError as error:
            return str(error)
        return None

    def _bounded(self, value: float) -> float:
        if self.least is not None and (value < self.least or (self.above and value == self.least)):
            raise ValueError(f"must be {'more than' if self.above else 'at least'} {self.least:g}, not {value:g}")
        if self.most is not None and value > self.most:
            raise ValueError(f"must be at most {self.most}, not {value}")
        return value

    def _seconds(self, text: str) -> tuple[str, float]:
        stage, equals, seconds = text.partition("=")
        if not equals:
            raise ValueError(f"{text!r} is not STAGE=SECONDS, for instance call=60")
        if stage not in self.choices:
            raise ValueError(
                f"{stage!r} is no stage{nearest(stage, self.choices)}; stages are {', '.join(self.choices)}"
            )
        return stage, float(self._bounded(_number(seconds, whole=False)))


def nearest(name: str, known: Iterable[str]) -> str:
    """`; the nearest is 'budget'`, where there is one."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; the nearest is {close[0]!r}" if close else ""


def one_of(choices: Iterable[str]) -> str:
    listed = list(choices)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"


def _number(text: str, whole: bool) -> float:
    if not NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is no number")
    if re.fullmatch(r"[-+]?\d{1,30}", text.strip()):
        return int(text)  # exactly: a seed has more digits than a float
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text!r} is too large")
    if whole and (value != int(value) if abs(value) < 2**63 else True):
        raise ValueError(f"{text!r} is no whole number")
    return int(value) if whole else value


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text == "true"


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, dict):
        return [f"{stage}={seconds!r}" for stage, seconds in value.items()]
    return [str(part) for part in value] if isinstance(value, list | tuple) else [str(value)]
