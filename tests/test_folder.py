"""What a run leaves behind beside its results."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from kbench.errors import MachineFault
from kbench.records import Speedup
from kbench.sweep.folder import Folder
from made import result
from msgspec import structs

COMPILED = Speedup(value=0.8, ci95=(0.79, 0.81))


def test_leaderboards_are_made_over_every_baseline(tmp_path: Path) -> None:
    both, one = result(solution="a", speedup=2.0), result(solution="b", speedup=1.5)
    with Folder(tmp_path, "x") as folder:
        folder.add(structs.replace(both, speedup={**both.speedup, "compile": COMPILED}))
        folder.add(one)
        folder.publish()
    rows = list(csv.DictReader((tmp_path / "leaderboard.csv").open()))
    told = [(row["baseline"], row["solution"], row["speedup"]) for row in rows]
    assert told == [
        ("eager", "a", "2.0"),
        ("eager", "b", "1.5"),
        ("compile", "a", "0.8"),
        ("compile", "b", ""),
    ]
    text = (tmp_path / "leaderboard.md").read_text()
    assert text.index("over the eager baseline") < text.index("over the compile baseline")


def test_what_cannot_be_written_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "leaderboard.md").mkdir()
    with Folder(tmp_path, "x") as folder, pytest.raises(MachineFault, match=r"cannot write .*leaderboard\.md"):
        folder.publish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leaderboard.csv", "leaderboard.md", "results.jsonl"]
