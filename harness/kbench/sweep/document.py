"""YAML with positions, read by what each place expects instead of by YAML's own guesses.

YAML takes `1e-3` for a string, `on` for true and the second of two equal keys for the only one. Here a number is what
looks like one where a number is due, and every mistake keeps its line and column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from kbench.errors import UsageFault
from kbench.options import nearest
from kbench.records import Record

Node = yaml.nodes.Node
MAX_BYTES = 2**20


class Spot(Record, frozen=True):
    line: int
    column: int


class Mistake(Record, frozen=True):
    spot: Spot
    text: str


class Document:
    """A file's tree, and what was found wrong with it so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.mistakes: list[Mistake] = []
        self.root = self._parsed()

    def wrong(self, at: Node | Spot, text: str) -> None:
        self.mistakes.append(Mistake(at if isinstance(at, Spot) else spot(at), text))

    def demand_none(self) -> None:
        """Raises everything that is wrong at once, in the order of the file."""
        if self.mistakes:
            ordered = sorted(self.mistakes, key=lambda one: (one.spot.line, one.spot.column))
            lines = [f"{self.path}:{one.spot.line}:{one.spot.column}: {one.text}" for one in ordered]
            raise UsageFault("\n".join(dict.fromkeys(lines)), "kbench schema config lists every key")

    def entries(self, node: Node, known: Iterator[str] | tuple[str, ...] | None = None) -> Iterator[tuple[str, Node]]:
        """The keys and values of a mapping; doubled and unknown keys are mistakes."""
        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, f"keys with values are expected here, not {_shown(node)}")
            return
        names = tuple(known) if known is not None else None
        seen: dict[str, Spot] = {}
        for key_node, value in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else _shown(key_node)
            if key in seen:
                self.wrong(key_node, f"{key!r} is given twice; the first is at line {seen[key].line}")
            elif names is not None and key not in names:
                self.wrong(key_node, f"unknown key {key!r}{nearest(key, names)}")
            else:
                yield key, value
            seen.setdefault(key, spot(key_node))

    def texts(self, node: Node) -> list[tuple[str, Node]]:
        """A list of scalars, or one alone."""
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        return [(text, item) for item in items if (text := self.text(item)) is not None]

    def text(self, node: Node) -> str | None:
        """A scalar as it is written, whatever YAML would make of it."""
        if isinstance(node, yaml.ScalarNode) and not _is_nothing(node):
            return str(node.value)
        self.wrong(node, f"one value is expected here, not {_shown(node)}")
        return None

    def read(self, node: Node, read: Callable[[str], Any]) -> Any:
        """A plain scalar through `read`, whose ValueError becomes a mistake at its place."""
        text = self.text(node)
        try:
            return None if text is None else read(text)
        except ValueError as error:
            self.wrong(node, str(error))
            return None

    def _parsed(self) -> Node | None:
        try:
            data = self.path.read_bytes()
            if len(data) > MAX_BYTES:
                raise UsageFault(f"{self.path} is larger than {MAX_BYTES >> 20} MB", "name a configuration")
            root = yaml.compose(data.decode(), Loader=yaml.SafeLoader)
        except OSError as error:
            raise UsageFault(
                f"cannot read {self.path}: {error.strerror}", "name a configuration, see configs/"
            ) from None
        except UnicodeDecodeError as error:
            raise UsageFault(f"{self.path} is not text (UTF-8): {error.reason}", "name a configuration") from None
        except yaml.MarkedYAMLError as error:
            self._unreadable(error)
            return None
        except RecursionError:
            raise UsageFault(f"{self.path} is nested too deeply", "name a configuration") from None
        except yaml.YAMLError as error:
            raise UsageFault(f"{self.path} is no YAML: {error}", "name a configuration") from None
        if root is None:
            self.wrong(Spot(1, 1), "the file says nothing")
        return root

    def _unreadable(self, error: yaml.MarkedYAMLError) -> None:
        mark = error.problem_mark or error.context_mark
        at = Spot(mark.line + 1, mark.column + 1) if mark else Spot(1, 1)
        more = f" ({error.context})" if error.context else ""
        self.wrong(at, f"no YAML: {error.problem or 'cannot be read'}{more}")


def spot(node: Node) -> Spot:
    return Spot(node.start_mark.line + 1, node.start_mark.column + 1)


def is_quoted(node: Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style in ("'", '"')


def _is_nothing(node: yaml.ScalarNode) -> bool:
    return not node.value and not is_quoted(node)


def _shown(node: Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "keys with values"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return "nothing" if isinstance(node, yaml.ScalarNode) and _is_nothing(node) else repr(str(node.value))
