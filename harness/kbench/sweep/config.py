"""A sweep's configuration: `configs/*.yaml`, overlaid by options and the environment."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from kbench.device.names import check_name
from kbench.errors import UsageFault
from kbench.options import Option
from kbench.records import Record
from kbench.settings import OPTIONS
from kbench.sweep.document import Document, Node, Spot, is_quoted, spot

# What only a sweep has. Together with the settings of one evaluation these are all keys of a configuration.
MATRIX: tuple[Option, ...] = (
    Option("name", "name", "word", "Of the folder below results/.", shown="the file's name"),
    Option("problems", "problems", "words", "Names as kbench list shows them, globs, or paths.", shown="all"),
    Option("tags", "tags", "words", "Only problems with one of these tags."),
    Option("solutions", "solutions", "words", "Names or globs, of every set.", shown="all"),
    Option("workload", "workload", "words", "Workloads of each problem; all means every one.", shown="as kbench eval"),
    Option("device", "device", "words", "auto, cpu, cuda (every GPU) or cuda:<index>.", shown="auto"),
    Option("samples", "samples", "count", "At most so many solutions of a problem from each set.", least=1),
    Option("retries", "retries", "count", "Again after a fault of the machine.", least=0, most=10, shown="1"),
)
ELSEWHERE = ("sets", "overrides")
DEFAULT_RETRIES = 1
PLAIN = re.compile(r"[\w.+-]{1,100}")
HERE = "solutions"


class Wanted(Record, frozen=True):
    """A name or glob, with its place in the file where it has one."""

    text: str
    spot: Spot | None = None


class SolutionSet(Record, frozen=True):
    """Solutions of one model or author: a folder that mirrors `problems/`."""

    name: str | None
    folder: str
    samples: int | None = None
    spot: Spot | None = None


class Override(Record, frozen=True):
    """Settings of the problems that a glob names."""

    problems: Wanted
    settings: dict[str, Any]


class Config(Record, frozen=True):
    """What is wanted, before anything is looked up."""

    name: str
    problems: tuple[Wanted, ...] = ()
    tags: tuple[Wanted, ...] = ()
    solutions: tuple[Wanted, ...] = ()
    sets: tuple[SolutionSet, ...] = ()
    workloads: tuple[Wanted, ...] = ()
    devices: tuple[str, ...] = ("auto",)
    samples: int | None = None
    retries: int = DEFAULT_RETRIES
    settings: dict[str, Any] = {}  # by option name
    overrides: tuple[Override, ...] = ()
    given: dict[str, Any] = {}  # on the command line or in the environment: above every override
    base: str = "."  # relative paths start here


def read(path: Path, given: dict[str, Any]) -> tuple[Config, Document]:
    """The configuration, and the document that later mistakes are added to. `given` is above what the file says."""
    document = Document(path)
    found = _Reader(document).config() if document.root is not None else {}
    document.demand_none()
    return _overlaid(found, given, path), document


def _overlaid(found: dict[str, Any], given: dict[str, Any], path: Path) -> Config:
    matrix = {option.name for option in MATRIX}
    settings = {name: value for name, value in given.items() if name not in matrix}
    merged = {**found, **{_field(name): _wanted(name, given[name]) for name in matrix if name in given}}
    return Config(**{"name": path.stem, **merged}, given=settings, base=str(path.resolve().parent))


def _field(name: str) -> str:
    return {"workload": "workloads", "device": "devices"}.get(name, name)


def _wanted(name: str, value: Any) -> Any:
    for text in value if name == "device" else ():
        check_name(text)
    if name == "name":
        try:
            _plain(value)
        except ValueError as error:
            raise UsageFault(f"--name: {error}", "see kbench run --help") from None
    if name in ("problems", "tags", "solutions", "workload"):
        return tuple(Wanted(text) for text in value)
    return value


class _Reader:
    """Walks the file once and gathers every mistake on the way."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.matrix = {option.name: option for option in MATRIX}
        self.settings = {option.name: option for option in OPTIONS}

    def config(self) -> dict[str, Any]:
        assert self.document.root is not None
        found: dict[str, Any] = {"settings": {}}
        for key, node in self.document.entries(self.document.root, (*self.matrix, *self.settings, *ELSEWHERE)):
            if key in self.settings:
                self._into(found["settings"], key, self._value(self.settings[key], node))
            elif key == "sets":
                found[key] = self._sets(node)
            elif key == "overrides":
                found[key] = self._overrides(node)
            else:
                self._into(found, _field(key), self._of_matrix(self.matrix[key], node))
        return found

    def _into(self, found: dict[str, Any], key: str, value: Any) -> None:
        if value is not None:
            found[key] = value

    def _of_matrix(self, option: Option, node: Node) -> Any:
        if option.name in ("problems", "tags", "solutions", "workload"):
            return tuple(Wanted(text, spot(item)) for text, item in self.document.texts(node))
        if option.name == "device":
            return tuple(self._checked(item, text, _device) for text, item in self.document.texts(node))
        if option.name == "name":
            return self.document.read(node, _plain)
        return self._value(option, node)

    def _value(self, option: Option, node: Node) -> Any:
        if option.kind == "seconds":
            return self._seconds(option, node)
        if option.kind == "words":
            values = [self._checked(item, text, option.value) for text, item in self.document.texts(node)]
            return tuple(dict.fromkeys(value for value in values if value is not None))
        if option.kind in ("count", "number", "flag") and is_quoted(node):
            self.document.wrong(node, f"{option.name} is quoted, which makes it text; write it without quotes")
            return None
        return self.document.read(node, option.value)

    def _checked(self, node: Node, text: str, check: Callable[[str], Any]) -> Any:
        try:
            return check(text)
        except ValueError as error:
            self.document.wrong(node, str(error))
            return None

    def _seconds(self, option: Option, node: Node) -> dict[str, float]:
        found = {}
        for stage, value in self.document.entries(node, option.choices):
            text = self.document.text(value)
            seconds = self._checked(value, f"{stage}={text}", option.value) if text is not None else None
            if seconds is not None:
                found[stage] = seconds[1]
        return found

    def _sets(self, node: Node) -> tuple[SolutionSet, ...]:
        return tuple(self._set(name, value) for name, value in self.document.entries(node))

    def _set(self, name: str, node: Node) -> SolutionSet:
        if isinstance(node, yaml.ScalarNode):
            return SolutionSet(name, self.document.text(node) or HERE, spot=spot(node))
        found: dict[str, Any] = {}
        for key, value in self.document.entries(node, ("folder", "samples")):
            option = self.matrix.get(key)
            found[key] = self._value(option, value) if option else self.document.text(value)
        if not found.get("folder"):
            self.document.wrong(node, f"set {name!r} names no folder")
        return SolutionSet(name, found.get("folder") or HERE, found.get("samples"), spot(node))

    def _overrides(self, node: Node) -> tuple[Override, ...]:
        found = []
        for glob, value in self.document.entries(node):
            settings: dict[str, Any] = {}
            for key, given in self.document.entries(value, (*self.settings, "workload")):
                option = self.settings.get(key, self.matrix["workload"])
                found_value = self._value(option, given) if key in self.settings else self._of_matrix(option, given)
                self._into(settings, key, found_value)
            found.append(Override(Wanted(glob, spot(value)), settings))
        return tuple(found)


def _plain(text: str) -> str:
    """A name that is one folder below results/ and nothing else."""
    if not PLAIN.fullmatch(text) or text.strip(".") == "":
        raise ValueError(f"{text!r} is no name of a folder: letters, digits, '.', '_' and '-'")
    return text


def _device(text: str) -> str:
    try:
        check_name(text)
    except UsageFault as fault:
        raise ValueError(f"{fault.message}; {fault.fix}") from None
    return text
