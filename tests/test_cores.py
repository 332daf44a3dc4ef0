from __future__ import annotations

import os

import pytest
from kbench.sweep.cores import for_builds, usable


@pytest.mark.parametrize(
    ("count", "gpus", "left"), [(2, 0, 2), (2, 1, 1), (1, 1, 1), (16, 1, 12), (32, 2, 26), (8, 8, 1)]
)
def test_builds_leave_cores_for_what_is_timed(count: int, gpus: int, left: int) -> None:
    assert len(for_builds(range(count), gpus)) == left


def test_the_usable_cores_are_ours() -> None:
    assert set(usable()) == os.sched_getaffinity(0)
