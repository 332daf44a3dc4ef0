"""Every broken solution gets the verdict that its file name begins with, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import AFFINE, BROKEN, Evaluate

SOLUTIONS = sorted((BROKEN / "solutions").glob("*.py"))
REPLIES = sorted((BROKEN / "replies").iterdir())
PATIENCE = {"load": 5.0, "first-call": 5.0, "call": 4.0}


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_verdict(path: Path, evaluate: Evaluate, tmp_path: Path) -> None:
    text = path.read_bytes()
    if b"@PROBLEM@" in text:
        path = tmp_path / path.name
        path.write_bytes(text.replace(b"@PROBLEM@", str(AFFINE).encode()))
    result = evaluate(path, timeouts=PATIENCE)
    assert result.verdict == path.stem.split("__")[0], (result.reason, result.log)
    assert result.passed or result.reason


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
def test_reply(path: Path, evaluate: Evaluate) -> None:
    result = evaluate(path)
    assert result.verdict == path.stem.split("__")[0], result.reason
    assert result.passed == (result.solution.lines is not None)
