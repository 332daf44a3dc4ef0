from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from kbench.errors import DoesNotFit
from kbench.referee import hog
from kbench.referee.ruling import Stopped

GB = 2**30
NO_ROOM = DoesNotFit("no memory for the arena", "choose a smaller --workload")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hog, "PARTING_S", 0.02)
    monkeypatch.setattr(hog, "APART_S", 0.001)


@pytest.mark.parametrize(
    "held, others, right",
    [
        (120, 5, True),
        (70, 60, False),  # a problem that hardly fits twice
        (70, 34, True),
        (40, 1, False),  # a problem whose trials are large, and a solution that keeps a workspace
    ],
)
def test_who_holds_most_of_it_and_much_more_than_the_reference(held: int, others: int, right: bool) -> None:
    assert hog.is_hog(held * GB, others * GB, 130 * GB) == right


def test_what_a_device_gives_back_late_counts_for_who_held_it() -> None:
    left = [10, 10]

    def free_bytes() -> int:
        return left.pop(0) if len(left) > 1 else left[0]

    assert hog.freed(free_bytes, lambda: left.extend([15, 15, 30])) == 20


def ran_out(
    error: Exception, kind: str = "cuda", solution: int = 120, baselines: int = 3, referee: int = 4
) -> list[str]:
    """What was ended, in order, when this was raised on a GPU of 130 GB."""
    ended: list[str] = []
    held = {"solution": solution, "others": baselines}

    def end(name: str) -> None:
        ended.append(name)
        held.pop(name, None)

    device: Any = SimpleNamespace(
        kind=kind,
        free_bytes=lambda: (130 - sum(held.values())) * GB,
        most_held_bytes=lambda: referee * GB,
    )
    try:
        with hog.told(device, 130 * GB, *(lambda name=name: end(name) for name in ("still", "solution", "others"))):
            raise error
    except (Stopped, type(error)) as raised:
        ended.append(str(raised) if raised is not error else "raised again")
    return ended


@pytest.mark.parametrize(
    "error",
    [NO_ROOM, torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("CUDA error: out of memory")],
    ids=lambda error: type(error).__name__,
)
def test_a_hog_is_told(error: Exception) -> None:
    *ended, last = ran_out(error)
    assert ended == ["still", "solution", "others"]  # the exam goes: a baseline may be in the middle of something
    assert last.startswith("it held 120.0 GB of the GPU's memory")


def test_who_is_none_is_not_blamed() -> None:
    assert ran_out(NO_ROOM, solution=66, baselines=20, referee=45)[-1] == "raised again"
    assert ran_out(NO_ROOM, solution=30)[-1] == "raised again"


def test_other_faults_and_those_of_a_host_end_nobody() -> None:
    assert ran_out(RuntimeError("an illegal memory access")) == ["raised again"]
    assert ran_out(MemoryError("host"), kind="cpu") == ["raised again"]
