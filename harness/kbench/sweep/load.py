"""`kbench.load_results`: what runs left behind, for notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kbench.report.frame import frame
from kbench.sweep.store import read_all

if TYPE_CHECKING:
    import pandas


def load_results(*paths: str | Path) -> pandas.DataFrame:
    """A table of all results in these files or folders: one row a pair and workload, every line of them."""
    return frame(read_all(map(Path, paths)))
