"""Writes the golden files anew from the stored results, or takes in new results: `make.py NAME < result.json`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from click.testing import CliRunner
from kbench.cli.main import kbench
from kbench.records import Result
from kbench.report import text

HERE = Path(__file__).parent


def main(names: list[str]) -> None:
    for name in names:
        (HERE / f"{name}.json").write_text(sys.stdin.read())
    for path in HERE.glob("*.json"):
        result = msgspec.json.decode(path.read_bytes(), type=Result)
        path.with_suffix(".txt").write_text("\n".join(text.lines(result)) + "\n")
    shown = CliRunner().invoke(kbench, ["eval", "--help"], terminal_width=80, prog_name="kbench").output
    (HERE / "eval_help.txt").write_text(shown)


if __name__ == "__main__":
    main(sys.argv[1:])
