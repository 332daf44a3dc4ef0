"""Leaderboard files from stored results with every verdict in them."""

from __future__ import annotations

import csv
import io
import sys
from typing import get_args

import pytest
from conftest import HERE
from kbench.records import Verdict
from kbench.report import board
from kbench.report.standing import groups
from kbench.sweep.store import read
from made import result

sys.path.insert(0, str(HERE / "golden"))
import leaderboard


@pytest.mark.parametrize("name", list(leaderboard.outputs()))
def test_golden(name: str) -> None:
    assert leaderboard.outputs()[name] == (HERE / "golden" / name).read_text()


def test_the_stored_results_hold_every_verdict() -> None:
    assert {one.verdict for one in read(leaderboard.RESULTS)} == set(get_args(Verdict))


def test_csv_has_one_row_a_pair_with_typed_cells() -> None:
    rows = list(csv.DictReader(io.StringIO(leaderboard.outputs()["leaderboard.csv"])))
    assert len(rows) == 13
    assert all(float(row["speedup"]) > 0 and row["rank"].isdigit() for row in rows if row["verdict"] == "passed")
    assert all(row["speedup"] == row["rank"] == row["median_ms"] == "" for row in rows if row["verdict"] != "passed")


def test_names_and_reasons_of_others_are_no_formulas_and_no_markup() -> None:
    name = "=1+1|<script>`x`*_[a](b)\n\x1b[31m"
    found = groups([result(solution=name, of_set="@SUM(A1)")], "eager")
    (row,) = csv.DictReader(io.StringIO(board.as_csv(found)))
    assert row["solution"].startswith("'=1+1") and row["set"] == "'@SUM(A1)"
    text = board.as_markdown(found, "t")
    assert "<script>" not in text and "\x1b" not in text
    (line,) = [line for line in text.splitlines() if line.startswith("| 1 | fusion/add")]
    assert "=1+1\\|&lt;script>\\`x\\`\\*\\_\\[a\\](b)" in line


def test_without_results_it_says_so() -> None:
    assert "No results." in board.as_markdown([], "empty")
    assert board.as_csv([]).splitlines() == [",".join(board.COLUMNS)]


def test_long_tables_are_folded_away() -> None:
    many = [result(solution=f"s{number}") for number in range(60)]
    assert board.as_markdown(groups(many, "eager"), "long").count("<details>") == 1
