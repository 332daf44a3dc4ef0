"""Where problems and solutions lie on disk: a root with `problems/` and `solutions/`, short names, any path."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from kbench.errors import UsageFault

Kind = Literal["problems", "solutions"]
SUFFIXES: dict[Kind, tuple[str, ...]] = {"problems": (".py",), "solutions": (".py", ".md", ".txt")}
FOLDER_ENTRY = "solution.py"
LONGEST = 200  # of a name that is told
SAMPLE = re.compile(r"(?:_sample)?[-_.]\d+$")  # as models' answers are often numbered


def find_root(given: str | None, start: Path | None = None) -> Path | None:
    """`--root`, else KBENCH_ROOT, else the nearest parent directory that holds `problems/`."""
    named = given or os.environ.get("KBENCH_ROOT")
    if named:
        root = Path(named).resolve()
        if not (root / "problems").is_dir():
            raise UsageFault(f"no problems/ below the root {root}", "name the folder that holds problems/")
        return root
    here = (start or Path.cwd()).resolve()
    return next((folder for folder in (here, *here.parents) if (folder / "problems").is_dir()), None)


def locate(name: str, kind: Kind, root: Path | None) -> Path:
    """The file or folder that a path or a short name means, or a UsageFault that names the nearest ones."""
    direct = _there(name)
    if direct and _is_entry(direct, kind):
        return direct.resolve()
    fitting = [path for path in entries(kind, root) if _matches(identity(path, kind, root), name)]
    matches = list({path.resolve(): path for path in fitting}.values())  # a link is what it leads to
    if len(matches) == 1:
        return matches[0]
    singular = kind[:-1]
    if len(matches) > 1:
        choices = ", ".join(identity(path, kind, root) for path in matches[:5])
        raise UsageFault(f"{singular} {name!r} means several: {choices}", "use more of the name")
    if direct:
        raise UsageFault(f"the folder {direct} is no {singular}", _folder_fix(kind))
    raise UsageFault(f"no {singular} {name[:LONGEST]!r}{_nearest(name, kind, root)}", "see kbench list, or give a path")


def _there(name: str) -> Path | None:
    """The path that is named, where it is one: a name may be anything, also what no path can be."""
    with contextlib.suppress(OSError, RuntimeError):
        path = Path(name).expanduser()
        return path if path.exists() else None
    return None


def identity(path: Path, kind: Kind, root: Path | None) -> str:
    """The path below `problems/` or `solutions/` without suffix, else the file's stem."""
    base = (root / kind).resolve() if root else None
    if base and path.resolve().is_relative_to(base):
        relative = path.resolve().relative_to(base)
        return str(relative.with_suffix("")) if path.is_file() else str(relative)
    return path.stem if path.is_file() else path.name


def problem_of(solution_id: str, root: Path | None) -> Path | None:
    """The problem that a solution's place below `solutions/` mirrors."""
    if root is None:
        return None
    places = (Path(solution_id), Path(solution_id).parent)
    files = [(root / "problems" / place).with_suffix(".py") for place in places if place.name]
    return next((file for file in files if file.is_file()), None)


def problem_for(solution_id: str, problem_ids: Iterable[str], root: Path | None) -> str | None:
    """The problem of these that a solution's name means, wherever it lies: its place, else its folder's or own name."""
    known = list(problem_ids)
    parent, _, own = solution_id.rpartition("/")
    unnumbered = SAMPLE.sub("", solution_id)
    places = (solution_id, parent, unnumbered)
    for place in places:
        if place in known:
            return place
    if any(problem_of(place, root) for place in places):
        return None  # it lies where another problem's solutions do, whose last name may be the same
    for name in (parent.rpartition("/")[2], own, unnumbered.rpartition("/")[2]):
        fitting = [full for full in known if name and _matches(full, name)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def entries(kind: Kind, root: Path | None) -> list[Path]:
    """Everything below the root that can be named, sorted."""
    return below(root / kind, kind) if root else []


def below(folder: Path, kind: Kind) -> list[Path]:
    """Everything below a folder that can be named, sorted."""
    return sorted(_walk(folder, kind)) if folder.is_dir() else []


def _walk(folder: Path, kind: Kind) -> Iterator[Path]:
    for child in sorted(folder.iterdir()):
        if child.name.startswith((".", "_")) or _is_loop(child):
            continue
        if child.is_dir() and not _is_entry(child, kind):
            yield from _walk(child, kind)
        elif _is_entry(child, kind) and child.suffix in (*SUFFIXES[kind], "") and child.stem != "README":
            yield child


def _is_loop(path: Path) -> bool:
    """A link that leads to itself."""
    if not path.is_symlink():
        return False
    try:
        path.resolve()
    except (OSError, RuntimeError):
        return True
    return False


def _is_entry(path: Path, kind: Kind) -> bool:
    return not path.is_dir() or (kind == "solutions" and (path / FOLDER_ENTRY).is_file())


def _matches(full: str, name: str) -> bool:
    return full == name or full.endswith("/" + name)


def _folder_fix(kind: Kind) -> str:
    return "a solution folder holds a solution.py" if kind == "solutions" else "name a .py file"


def _nearest(name: str, kind: Kind, root: Path | None) -> str:
    names = [identity(path, kind, root) for path in entries(kind, root)]
    shorts = {full.rsplit("/", 1)[-1]: full for full in names}
    close = difflib.get_close_matches(name, [*names, *shorts], n=1, cutoff=0.5)
    return f"; the nearest is {shorts.get(close[0], close[0])!r}" if close else ""
