"""Whether stopped processes went on. That timers of their own wake them is a file of the corpus."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from kbench.jail import stillness
from kbench.jail.stillness import Stillness


@contextmanager
def stopped(life: Callable[[], None]) -> Iterator[int]:
    pid = os.fork()
    if pid == 0:
        life()
        os._exit(0)
    time.sleep(0.05)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def works() -> None:
    while True:
        pass


def test_who_is_stopped_stands_still() -> None:
    with stopped(works) as pid:
        still = Stillness([pid])
        time.sleep(0.05)
        assert not still.was_broken()


def test_who_goes_on_is_seen() -> None:
    with stopped(works) as pid:
        still = Stillness([pid])
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.05)
        assert still.was_broken()


def test_who_ends_is_seen() -> None:
    with stopped(works) as pid:
        still = Stillness([pid])
        other = os.fork()
        if other == 0:
            os._exit(0)
        mixed = Stillness([pid, other])
        os.waitpid(other, 0)
        assert not still.was_broken()
        assert mixed.was_broken()


@pytest.mark.parametrize(
    ("before", "after", "span", "broken"),
    [
        ([1.0, 2.0], [1.0, 2.0], 1.0, False),
        ([1.0, 2.0], [1.00002, 2.00002], 0.01, False),  # it stopped late
        ([1.0, 2.0], [1.001, 2.0], 0.01, True),
        ([1.0], [1.005], 1.0, False),
        ([1.0], [1.02], 1.0, True),
        ([1.0, None], [1.0, None], 1.0, False),
        ([1.0, 2.0], [1.0, None], 1.0, True),
    ],
)
def test_a_little_is_allowed(before: list[float | None], after: list[float | None], span: float, broken: bool) -> None:
    assert stillness.ran(before, after, span) is broken
