"""Which device does what next, and what becomes of a pair when a machine fails."""

from __future__ import annotations

import random

import pytest
from kbench.sweep.pair import Pair
from kbench.sweep.schedule import Schedule, Task
from made import pair


def schedule(
    pairs: list[Pair], devices: tuple[str, ...] = ("cuda:0",), retries: int = 1, built: bool = True
) -> Schedule:
    made = Schedule(pairs, retries)
    for device in devices:
        made.join(device)
    while built and (task := made.to_build()):
        made.built(task)
    return made


def taken(made: Schedule, device: str) -> Task:
    task = made.take(device)
    assert task
    return task


def test_a_device_stays_with_a_problem_and_then_takes_one_that_no_other_has() -> None:
    pairs = [pair(problem, solution) for problem in "abc" for solution in "12"]
    made = schedule(pairs, ("cuda:0", "cuda:1"))
    seen: list[tuple[str, str]] = []
    for device in ("cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:1", "cuda:0"):
        seen.append((device, taken(made, device).pair.problem_id))
        made.finish(device)
    assert [problem for device, problem in seen if device == "cuda:0"] == ["a", "a", "c"]
    assert [problem for device, problem in seen if device == "cuda:1"] == ["b", "b", "c"]


def places(counts: dict[str, int], slow: str) -> dict[str, str]:
    """Where each problem ran in a run with one device that takes three times as long."""
    pairs = [pair(problem, str(number)) for problem, count in counts.items() for number in range(count)]
    made = schedule(pairs, ("cuda:0", "cuda:1", "cuda:2"))
    free_at = dict.fromkeys(made.devices, 0)
    ran: dict[str, str] = {}
    while made.waiting:
        device = min(free_at, key=lambda name: (free_at[name], name))
        task = taken(made, device)
        made.finish(device)
        ran.setdefault(task.pair.problem_id, device)
        free_at[device] += 3 if device == slow else 1
    return ran


def test_a_problem_goes_to_the_same_device_in_every_run_as_far_as_devices_keep_pace() -> None:
    counts = dict.fromkeys("abcdefghijklmnopqr", 2)
    even = places(counts, slow="")
    assert [even[name] for name in "abcdef"] == [f"cuda:{number % 3}" for number in range(6)]
    uneven = places(counts, slow="cuda:0")
    moved = [name for name in counts if uneven[name] != even[name]]
    assert moved and set(moved) <= set("ghijklmnopqr")  # the last ones at home, and nobody waits for the slow one
    assert all(even[name] == "cuda:0" for name in moved)


def test_a_home_stays_where_others_are_done_or_are_for_another_kind() -> None:
    planned = [pair(problem, device=device) for problem in "abcd" for device in ("cpu", "cuda")]
    left = [one for one in planned if one.device == "cuda" and one.problem_id in "bd"]
    made = Schedule(left, 0, planned)
    for device in ("cuda:0", "cuda:1", "cpu"):
        made.join(device)
    for task in made.waiting:
        made.built(task)
    assert taken(made, "cuda:1").pair.problem_id == "b"
    assert taken(made, "cuda:0").pair.problem_id == "d"  # at home on the other one, which is busy


def test_a_device_waits_for_its_builds_at_home_but_not_for_the_last_of_them() -> None:
    made = schedule([pair(problem) for problem in "abcd"], ("cuda:0", "cuda:1"), built=False)
    a, b, c, d = (made.to_build() for _ in range(4))
    assert a and b and c and d
    made.built(b)
    made.built(d)
    assert made.take("cuda:0") is None and not made.idle("cuda:0")
    made.built(c)
    assert taken(made, "cuda:0") is c
    made.finish("cuda:0")
    assert taken(made, "cuda:0") is d  # only `a` is left at home, and nobody knows how long that takes


def test_what_failed_at_home_keeps_nobody_there() -> None:
    made = schedule([pair(problem) for problem in "abcdef"], ("cuda:0", "cuda:1"), retries=2)
    for name in "ace":
        assert taken(made, "cuda:0").pair.problem_id == name
        assert made.fail("cuda:0")
    assert taken(made, "cuda:0").pair.problem_id == "f"


def test_what_is_not_built_is_not_taken_and_builds_go_in_order() -> None:
    made = schedule([pair("a"), pair("b")], built=False)
    assert made.take("cuda:0") is None
    first, second = made.to_build(), made.to_build()
    assert first and second
    assert (first.pair.problem_id, second.pair.problem_id) == ("a", "b")
    assert made.to_build() is None
    made.built(second)
    assert taken(made, "cuda:0").pair.problem_id == "b"


def test_a_pair_goes_only_to_devices_of_its_kind() -> None:
    made = schedule([pair("a", device="cpu"), pair("b")], ("cpu", "cuda:0"))
    assert taken(made, "cuda:0").pair.problem_id == "b"
    assert taken(made, "cpu").pair.problem_id == "a"


def test_a_fault_is_tried_again_elsewhere_as_often_as_was_said() -> None:
    made = schedule([pair("a"), pair("b")], ("cuda:0", "cuda:1"), retries=1)
    taken(made, "cuda:0")
    assert made.fail("cuda:0")
    assert taken(made, "cuda:0").pair.problem_id == "b"
    made.finish("cuda:0")
    assert made.take("cuda:0") is None  # it failed there, and there is another
    assert not made.idle("cuda:0")
    assert taken(made, "cuda:1").pair.problem_id == "a"
    assert not made.fail("cuda:1")
    assert made.idle("cuda:0") and made.left == 0


def test_without_an_elsewhere_it_is_tried_again_there() -> None:
    made = schedule([pair("a")], retries=1)
    taken(made, "cuda:0")
    assert made.fail("cuda:0")
    assert taken(made, "cuda:0").attempts == 2


def test_a_lost_device_gives_its_pair_back_and_the_last_one_leaves_orphans() -> None:
    made = schedule([pair("a"), pair("b"), pair("c", device="cpu")], ("cuda:0", "cuda:1", "cpu"))
    taken(made, "cuda:0")
    made.put_back("cuda:0")
    assert made.leave("cuda:0") == []
    assert taken(made, "cuda:1").attempts == 1
    made.put_back("cuda:1")
    assert [one.problem_id for one in made.leave("cuda:1")] == ["a", "b"]
    assert taken(made, "cpu").pair.problem_id == "c"


def test_faults_of_several_problems_in_a_row_are_the_devices() -> None:
    made = schedule([pair(name) for name in "abcd"], retries=0)
    for name in "ab":
        taken(made, "cuda:0")
        made.fail("cuda:0")
        assert not made.is_hopeless("cuda:0"), name
    taken(made, "cuda:0")
    made.fail("cuda:0")
    assert made.is_hopeless("cuda:0")


def test_one_bad_problem_is_no_bad_device() -> None:
    made = schedule([pair("a", str(number)) for number in range(9)], retries=0)
    for _ in range(9):
        taken(made, "cuda:0")
        made.fail("cuda:0")
    assert not made.is_hopeless("cuda:0")


def test_a_stop_begins_nothing_more() -> None:
    made = schedule([pair("a"), pair("b")])
    taken(made, "cuda:0")
    made.stop("enough")
    made.stop("interrupted")
    assert made.stopped == "enough"
    assert made.take("cuda:0") is None and made.to_build() is None and made.idle("cuda:0")
    assert made.left == 2


@pytest.mark.parametrize("seed", range(20))
def test_whatever_fails_every_pair_ends_exactly_once(seed: int) -> None:
    draw = random.Random(seed)
    devices = ["cuda:0", "cuda:1", "cuda:2"]
    made = schedule([pair(draw.choice("abcd"), str(number)) for number in range(30)], tuple(devices), retries=2)
    ended: list[str] = []
    busy: dict[str, Task] = {}
    for _ in range(2000):
        device = draw.choice(devices)
        if device in busy:
            task = busy.pop(device)
            if draw.random() < 0.3:
                ended += [] if made.fail(device) else [task.pair.solution_id]
            else:
                made.finish(device)
                ended.append(task.pair.solution_id)
        elif task := made.take(device):
            busy[device] = task
        elif len(devices) > 1 and draw.random() < 0.02 and device not in busy:
            devices.remove(device)
            ended += [one.solution_id for one in made.leave(device)]
    assert sorted(map(int, ended)) == list(range(30))
    assert made.left == 0
