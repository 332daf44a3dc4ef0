from __future__ import annotations

import pytest
from kbench.jail.orders import Ended
from kbench.protocol import Fault
from kbench.referee import ruling


@pytest.mark.parametrize(
    ("kind", "stage", "build", "verdict"),
    [
        ("error", "load", None, "load_failed"),
        ("error", "load", "no such header", "build_failed"),
        ("exit", "load", None, "load_failed"),
        ("missing", "load", None, "load_failed"),
        ("memory", "load", None, "out_of_memory"),
        ("error", "first-call", None, "crashed"),
        ("error", "call", None, "crashed"),
        ("exit", "call", None, "crashed"),
        ("memory", "call", None, "out_of_memory"),
    ],
)
def test_faults(kind: str, stage: str, build: str | None, verdict: str) -> None:
    found = ruling.of_fault(Fault(kind=kind, message="m", traceback="t"), stage, build)  # type: ignore[arg-type]
    assert found.verdict == verdict
    assert found.reason


@pytest.mark.parametrize(
    ("ended", "stage", "verdict", "says"),
    [
        (Ended(0, None, None), "load", "load_failed", "exit code 0"),
        (Ended(None, 11, None), "call", "crashed", "SIGSEGV"),
        (Ended(None, 9, "memory"), "call", "out_of_memory", "memory"),
        (Ended(None, 9, "processes"), "call", "crashed", "256 processes"),
        (None, "call", "crashed", "is gone"),
        (Ended(None, 77, None), "call", "crashed", "signal 77"),
    ],
)
def test_ends(ended: Ended | None, stage: str, verdict: str, says: str) -> None:
    found = ruling.of_end(ended, stage, 256)
    assert found.verdict == verdict
    assert says in found.reason


def test_deadlines_and_protocol() -> None:
    assert ruling.of_deadline("load", 30.0) == ruling.Ruling("timed_out", "load took longer than 30 s")
    assert ruling.of_protocol("x").verdict == "cheated"
