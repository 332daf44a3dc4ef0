"""What goes into a jail's scratch, and what comes out of it: done by the keeper, who sees more than those inside."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from kbench.jail.orders import Placed

MAX_FAULT = 500


def place(action: Callable[[Path], None], folder: str, name: str) -> Placed:
    """Does it at a path below the folder, and says what became of it."""
    path = Path(folder) / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        action(path)
    except (OSError, RecursionError) as error:
        return Placed(path=str(path), fault=str(error)[:MAX_FAULT])
    return Placed(path=str(path))


def write(path: Path, text: str) -> None:
    path.write_text(text)


def copy(source: str, target: Path) -> None:
    """A folder of the host into the jail."""
    # Links are copied as links: this process may read what the one inside may not.
    shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True, ignore=_special_files)


def copy_fresh(source: str, target: Path) -> None:
    """What a solution left, into the host, where nothing of it may lead elsewhere: without links, and into a folder
    that was not there before, since that may hold some."""
    numbered = (target.with_name(f"{target.name}-{number}") for number in itertools.count(2))
    fresh = next(path for path in itertools.chain((target,), numbered) if not os.path.lexists(path))
    shutil.copytree(source, fresh, symlinks=True, ignore=_links_and_special_files)


def _special_files(folder: str, names: list[str]) -> set[str]:
    paths = {name: Path(folder, name) for name in names}
    return {name for name, path in paths.items() if not (path.is_symlink() or path.is_dir() or path.is_file())}


def _links_and_special_files(folder: str, names: list[str]) -> set[str]:
    return _special_files(folder, names) | {name for name in names if Path(folder, name).is_symlink()}
