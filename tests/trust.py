"""The corpus: submissions that cheat, their honest twins, and what each must end as."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from conftest import CHEATS, HERE, HONEST

PATIENCE = {"load": 8.0, "first-call": 8.0, "call": 3.0}
OFF = " off"  # "elements are off" or "off as a whole": chance decides between the two where either is near its bound
PLACES = {"@ROOT@": HERE.parent, "@PROBLEM@": HERE / "fixtures" / "affine.py"}


@dataclass(frozen=True)
class Case:
    """One file: what its name and the last line of its docstring say."""

    path: Path
    expected: str  # a verdict, or `harmless`
    rows: tuple[int, ...]  # of the catalogue of threats
    problem: Path
    workload: str | None
    story: str
    because: str | None = None  # part of what must be said of it: another fault than its own proves nothing
    twin: Path | None = None  # what a harmless one is held against, where that is not the reference

    @property
    def gpu(self) -> bool:
        return self.path.parent.name == "gpu"

    @property
    def verdict(self) -> str:
        """What is harmless passes."""
        return "passed" if self.expected == "harmless" else self.expected

    @property
    def workloads(self) -> tuple[str, ...]:
        return (self.workload,) if self.workload else ()

    @property
    def name(self) -> str:
        return self.path.stem

    def placed(self, folder: Path) -> Path:
        """The file, with places of this machine written into it where it names some."""
        text = self.path.read_text()
        if not any(mark in text for mark in PLACES):
            return self.path
        for mark, place in PLACES.items():
            text = text.replace(mark, str(place))
        target = folder / self.path.name
        target.write_text(text)
        return target


def cheats(gpu: bool = False) -> list[Case]:
    return [read(path) for path in sorted((CHEATS / "gpu" if gpu else CHEATS).glob("*.py"))]


def honest(gpu: bool = False) -> list[Case]:
    return [read(path) for path in sorted((HONEST / "gpu" if gpu else HONEST).glob("*.py"))]


def read(path: Path) -> Case:
    story = ast.get_docstring(ast.parse(path.read_text())) or ""
    rows = re.search(r"^(?:Rows?|Twin of) ([\d, ]+)\.", story, re.M)
    usual = ("matmul", "2048") if path.parent.name == "gpu" else ("affine", None)
    problem = re.search(r"Problem: (\w+)\.", story)
    workload = re.search(r"Workload: (\w+)\.", story)
    twin = re.search(r"Beside: (\w+)\.", story)
    because = re.search(r"Because: ([^.]+)\.", story)
    expected = path.stem.split("__")[0] if "__" in path.stem else "passed"
    return Case(
        path=path,
        expected=expected,
        rows=tuple(map(int, rows[1].split(","))) if rows else (),
        problem=HERE / "fixtures" / f"{problem[1] if problem else usual[0]}.py",
        workload=workload[1] if workload else None if problem else usual[1],
        story=story.split("\n\n")[0].replace("\n", " "),
        because=because[1] if because else OFF if expected == "wrong" else None,
        twin=next(HONEST.rglob(f"{twin[1]}.py")) if twin else None,
    )
