from __future__ import annotations

import threading
import time

from kbench.sweep.quiet import Quiet


def test_nothing_is_built_while_something_is_timed_and_one_is_timed_at_a_time() -> None:
    quiet, lock = Quiet(), threading.Lock()
    now = {"built": 0, "timed": 0, "most built": 0}
    wrong: list[dict[str, int]] = []

    def note(what: str, by: int) -> None:
        with lock:
            now[what] += by
            now["most built"] = max(now["most built"], now["built"])
            if now["timed"] > 1 or (now["timed"] and now["built"]):
                wrong.append(dict(now))

    def build() -> None:
        for _ in range(20):
            with quiet.building():
                note("built", 1)
                time.sleep(0.001)
                note("built", -1)

    def measure() -> None:
        for _ in range(20):
            with quiet.timing():
                note("timed", 1)
                time.sleep(0.001)
                note("timed", -1)

    threads = [threading.Thread(target=work) for work in (build, build, build, measure, measure)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)
    assert now["most built"] > 1


def test_what_wants_to_be_timed_goes_before_the_next_build() -> None:
    quiet, order = Quiet(), list[str]()
    with quiet.building():
        timed = threading.Thread(target=lambda: _note(quiet.timing, order, "timed"))
        timed.start()
        time.sleep(0.05)
        built = threading.Thread(target=lambda: _note(quiet.building, order, "built"))
        built.start()
        time.sleep(0.05)
    timed.join(5)
    built.join(5)
    assert order == ["timed", "built"]


def _note(way: object, order: list[str], name: str) -> None:
    with way():  # type: ignore[operator]
        order.append(name)
        time.sleep(0.02)
