from __future__ import annotations

import threading
import time

import pytest
from kbench.device.gate import BlockingGate, Gate, SpinningGate


def gates(kind: str) -> tuple[Gate, Gate]:
    import os

    if kind == "blocking":
        referee: Gate = BlockingGate()
        return referee, BlockingGate([os.dup(fd) for fd in referee.fds()])
    referee = SpinningGate()
    return referee, SpinningGate(os.dup(referee.fds()[0]))


@pytest.mark.parametrize("kind", ["blocking", "spinning"])
def test_rounds_go_and_come_back(kind: str) -> None:
    referee, worker = gates(kind)
    seen: list[int] = []

    def work() -> None:
        for number in range(300):  # more than a byte counts
            worker.wait_go()
            seen.append(number)
            worker.done()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    for number in range(300):
        referee.go()
        assert referee.wait_done(time.monotonic() + 10, lambda: True)
        assert len(seen) == number + 1
    thread.join(5)


@pytest.mark.parametrize("kind", ["blocking", "spinning"])
def test_nobody_waits_for_the_dead_or_past_the_deadline(kind: str) -> None:
    referee, _worker = gates(kind)
    referee.go()
    assert not referee.wait_done(time.monotonic() + 10, lambda: False)
    assert not referee.wait_done(time.monotonic() + 0.05, lambda: True)
