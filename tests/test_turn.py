from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from kbench.build import turn

HOLD = """
import sys, time
from kbench.build import turn
with turn.to_build("folder", sys.argv[1], time.monotonic() + 5) as mine:
    print(mine, flush=True)
    time.sleep(60)
"""


def soon() -> float:
    return time.monotonic() + 0.2


def test_one_builds_while_the_other_waits() -> None:
    key = f"one-{os.getpid()}"
    with turn.to_build("folder", key, soon()) as first, turn.to_build("folder", key, soon()) as second:
        assert (first, second) == (True, False)
        with turn.to_build("folder", key + "other", soon()) as third, turn.to_build("elsewhere", key, soon()) as fourth:
            assert third and fourth
    with turn.to_build("folder", key, soon()) as again:
        assert again


def test_a_turn_ends_with_its_holder_however_it_ends() -> None:
    key = f"killed-{os.getpid()}"
    process = subprocess.Popen([sys.executable, "-c", HOLD, key], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "True\n"
    with turn.to_build("folder", key, soon()) as mine:
        assert not mine
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with turn.to_build("folder", key, soon()) as mine:
        assert mine


def test_so_many_compile_at_once() -> None:
    with turn.to_compile(2, soon()) as first, turn.to_compile(2, soon()) as second, turn.to_compile(2, soon()) as third:
        assert (first, second, third) == (True, True, False)


@pytest.mark.parametrize(
    ("cores", "gigabytes", "count"), [(2, 24, 1), (16, 128, 8), (16, 8, 2), (1, 1, 1), (64, 512, 32)]
)
def test_slots_are_bounded_by_cores_and_memory(cores: int, gigabytes: int, count: int) -> None:
    assert turn.slots(cores, gigabytes * 2**30) == count
