"""Threads of torch beside timed work: ours end, a worker's keep off main's core, a solution's are free."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SEVERAL = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core has no places to take")

RESTING = """
import os, statistics, time, torch
from kbench.device import threads
torch.set_num_threads(2)
work = torch.zeros(2**20)
def spun(then):
    work.add_(1.0)
    then()
    began = time.process_time()
    time.sleep(0.05)
    return time.process_time() - began
def mostly(then):
    return statistics.median(spun(then) for _ in range(5))
print(mostly(lambda: None) > 0.003, mostly(threads.rest) < 0.002, float(work.add_(1.0)[0]))
"""

PLACES = """
import os, threading, torch
from kbench.device import threads
torch.set_num_threads(2)
everything = os.sched_getaffinity(0)
team = threads.Team()
assert team._others
for _ in range(2):
    team.take_places()
    own = os.sched_getaffinity(0)
    assert own == {min(everything)}
    assert all(os.sched_getaffinity(task) == everything - own for task in team._others)
    team.begin()
    assert os.sched_getaffinity(0) == everything
seen = []
thread = threading.Thread(target=lambda: seen.append(os.sched_getaffinity(0)))
thread.start()
thread.join()
assert seen == [everything]
os.sched_setaffinity(0, {max(everything)})
team.take_places()
team.begin()
assert os.sched_getaffinity(0) == {max(everything)}
"""


def said(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@SEVERAL
def test_resting_ends_the_threads_that_would_spin() -> None:
    assert said(RESTING) == "True True 11.0"


@SEVERAL
def test_main_and_the_others_wait_apart_and_begin_free() -> None:
    said(PLACES)
