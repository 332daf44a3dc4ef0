"""Leaderboards in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from kbench import units
from kbench.report import board
from kbench.report.board import Table
from kbench.report.standing import Group

PIPED_WIDTH = 160


def show(group: Group, tables: Iterable[Table], strict: bool) -> None:
    """A group with the tables that were asked for."""
    from rich.text import Text

    console = _console()
    for number, line in enumerate(board.heading(group, strict)):
        console.print(Text(units.printable(line), style="bold" if number == 0 else "dim"))
    for title, head, rows in tables:
        table(title, head, rows)


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    import rich.box
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(title=title or None, title_justify="left", box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for name in head:
        made.add_column(name, justify="right" if name in board.NUMERIC else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(units.printable(cell), style=STYLES.get(cell, "")) for cell in row))
    _console().print(made)


def _console() -> Any:
    """Wide where nobody's window limits it."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


STYLES = {
    "passed": "green",
    "FASTER": "green",
    "FIXED": "green",
    "SLOWER": "red",
    "BROKE": "red",
    "wrong": "red",
    "crashed": "red",
    "cheated": "bold red",
    "build_failed": "yellow",
    "UNCLEAR": "dim",
}
