"""The order of rounds and what is looked at between them, with sides that only say how long they took."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from kbench.referee import busy, timing
from kbench.referee.busy import Busy, Watch
from kbench.referee.series import Series
from kbench.referee.size import Size
from kbench.referee.timing import Timer

CALM_S, TURN_S = 0.0001, 0.002
AFTER_OWN_S, AFTER_OTHERS_S, ROUND_S = 1.0, 2.0, 10.0


class Gpu:
    """One GPU and who used it. `left_by` tells through how many flushes after a round it is still at work."""

    def __init__(self) -> None:
        self.rounds: list[tuple[str, str]] = []  # mode and side
        self.given: list[tuple[int, int, int]] = []  # the slots and the seed of each
        self.frozen: set[str] = set()
        self.taken: list[set[str]] = []  # who stood still while outputs were copied, each time
        self.verified: list[set[str]] = []  # and while they were verified
        self.busy_looks = 0

    def flush(self) -> float:
        self.busy_looks -= 1
        return TURN_S if self.busy_looks >= 0 else CALM_S

    def take(self, span: slice) -> list[Any]:
        self.taken.append(set(self.frozen))
        return []

    def left_by(self, mode: str, name: str) -> int:
        return 0


class Fake:
    """A side whose rounds take as long as told."""

    def __init__(self, gpu: Gpu, name: str) -> None:
        self.gpu, self.name, self.is_solution = gpu, name, name == "solution"
        self.device = SimpleNamespace(kind="cuda")
        self.thaw = lambda: gpu.frozen.discard(name)
        self.freeze = lambda: gpu.frozen.add(name)
        layout = SimpleNamespace(flush_bytes=1)
        self.arena = SimpleNamespace(layout=layout, outputs=[], take=gpu.take, flush_once=gpu.flush)
        self.calls = 0

    def round(self, mode: str, stacks: Any, span: slice, word: int, generator: Any) -> Any:
        assert self.name not in self.gpu.frozen and len(self.gpu.frozen) == len(NAMES) - 1
        assert self.is_solution or self.gpu.busy_looks <= 0  # what was left before is waited for
        self.gpu.given.append((span.start, span.stop, word))
        last = self.gpu.rounds[-1][1] if self.gpu.rounds else None
        self.gpu.rounds.append((mode, self.name))
        self.gpu.busy_looks = self.gpu.left_by(mode, self.name)
        self.calls += 0 if mode.startswith("null") else 4
        wall = ROUND_S if not mode.startswith("null") else AFTER_OWN_S if last == self.name else AFTER_OTHERS_S
        return SimpleNamespace(walls_s=(wall,), finished=SimpleNamespace(claims_ms=CLAIMS_MS[self.name]), flushed=True)


NAMES = ("solution", "eager")
CLAIMS_MS = {"solution": (1.0, 1.0, 9.0), "eager": (2.0, 2.0, 0.1)}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy, "WAIT_S", 0.01)
    monkeypatch.setattr(busy, "APART_S", 0.0)


def series_on(gpu: Gpu, pairs: int, asked: list[tuple[Any, ...]] | None = None) -> Series:
    watch = Watch()
    watch.calm_s = CALM_S
    contest = SimpleNamespace(
        device=SimpleNamespace(kind="cuda"),
        size=Size(slots=24, calls=12),
        watch=watch,
        contents=SimpleNamespace(how="fresh", fresh=lambda seed: ([], None), idle=lambda seed: ([], None)),
        verify=lambda stacks, done: gpu.verified.append(set(gpu.frozen)),
    )

    def verdict(*figures: Any) -> str | None:
        if asked is not None:
            asked.append(figures)
        return "rounds" if len(figures[0]) == pairs else None

    rule = SimpleNamespace(verdict=verdict)
    sides = [Fake(gpu, name) for name in NAMES]
    probe = SimpleNamespace(sample=lambda: None)
    timer = Timer(sides, contest, itertools.count().__next__, probe)  # type: ignore[arg-type]
    return timer.run(rule, lambda: None)  # type: ignore[arg-type]


def batches(gpu: Gpu) -> list[str]:
    return [name for mode, name in gpu.rounds if mode == "batch"]


def test_sides_take_turns_in_going_first_and_one_runs_at_a_time() -> None:
    gpu = Gpu()
    found = series_on(gpu, 3)
    warm, *counting = zip(*[iter(batches(gpu))] * 2, strict=True)
    assert warm == ("solution", "eager")
    assert counting == [("solution", "eager"), ("eager", "solution"), ("solution", "eager")]
    assert [len(found.sides[name].walls_s) for name in NAMES] == [3, 3] and not gpu.frozen


def test_all_stand_still_while_outputs_are_copied_and_verified() -> None:
    gpu = Gpu()
    series_on(gpu, 3)
    assert gpu.taken == gpu.verified == [set(NAMES)] * 5  # warm, single and counted


def test_rounds_go_around_the_slots_and_only_those_that_belong_together_share_a_seed() -> None:
    gpu = Gpu()
    series_on(gpu, 2)
    warm, null, singles, first, second = range(5)
    assert list(zip(gpu.rounds, gpu.given, strict=True)) == [
        (("batch", "solution"), (12, 24, warm)),
        (("batch", "eager"), (12, 24, warm)),
        (("null-batch", "eager"), (0, 12, null)),
        (("single", "solution"), (0, 8, singles)),
        (("single", "eager"), (0, 8, singles)),
        (("null-single", "eager"), (0, 8, singles)),
        (("batch", "solution"), (0, 12, first)),
        (("batch", "eager"), (0, 12, first)),
        (("batch", "eager"), (12, 24, second)),
        (("batch", "solution"), (12, 24, second)),
    ]


def test_the_rule_is_asked_with_how_much_faster_the_solution_is() -> None:
    asked: list[tuple[Any, ...]] = []
    series_on(Gpu(), 2, asked)
    (first, _, calls, own), (second, spent, *_) = asked
    assert (first, own, second) == ([2.0], [1.0], [2.0, 2.0])
    assert calls == 3 * 4  # warm, single and counted
    assert spent == 4 * ROUND_S  # more than what went by beside it


def told_apart(monkeypatch: pytest.MonkeyPatch, gpu: Gpu, pairs: int) -> tuple[list[float], list[float]]:
    """The rounds without work of a series, after others and after their own."""
    told: list[Any] = []
    monkeypatch.setattr(timing, "idle_round", lambda kind, *parts: told.append(parts) or 0.0)
    monkeypatch.setattr(timing, "SINGLES_EVERY", 100)
    series_on(gpu, pairs)
    after_others, after_own = told[-1]
    return after_others, after_own


def test_rounds_without_work_are_told_apart_by_who_worked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    after_others, after_own = told_apart(monkeypatch, Gpu(), 10)
    assert len(after_others) == 2 and set(after_others) == {AFTER_OTHERS_S}
    assert len(after_own) == 2 and set(after_own) == {AFTER_OWN_S}


class LeftForGood(Gpu):
    def left_by(self, mode: str, name: str) -> int:
        return 10**9 if name == "solution" else 0


def test_a_kernel_that_stays_ends_the_series_before_a_baseline_runs_beside_it() -> None:
    gpu = LeftForGood()
    with pytest.raises(Busy) as raised:
        series_on(gpu, 20)
    assert raised.value.lasting and gpu.rounds == [("batch", "solution")] and not gpu.frozen


class LeftForAMoment(Gpu):
    def left_by(self, mode: str, name: str) -> int:
        return 5 if name == "solution" else 0


def test_a_kernel_that_soon_ends_is_waited_for() -> None:
    found = series_on(LeftForAMoment(), 20)
    assert not any(look for part in found.looks.values() for look in part)


class BeginsLater(Gpu):
    """What was left waits for something else before it works, in every third round of the baseline."""

    def left_by(self, mode: str, name: str) -> int:
        count = batches(self).count("eager")
        return 1 if (mode, name) == ("batch", "eager") and count % 3 == 0 else 0


def test_work_that_begins_during_a_third_of_the_rounds_ends_the_series() -> None:
    with pytest.raises(Busy) as raised:
        series_on(BeginsLater(), 40)
    assert not raised.value.lasting


class Once(Gpu):
    def left_by(self, mode: str, name: str) -> int:
        return 1 if mode == "null-batch" and [one for one, _ in self.rounds].count(mode) == 1 else 0


def test_a_disturbed_round_without_work_is_run_again() -> None:
    gpu = Once()
    found = series_on(gpu, 2)
    assert [mode for mode, _ in gpu.rounds].count("null-batch") == 2
    assert found.looks["null-batch"] == [True, False] and found.null_batch_s == AFTER_OWN_S


class Second(Gpu):
    """Disturbs the second round without work, which comes after another process."""

    def left_by(self, mode: str, name: str) -> int:
        return 1 if mode == "null-batch" and [one for one, _ in self.rounds].count(mode) == 2 else 0


def test_one_that_is_run_again_comes_after_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    after_others, after_own = told_apart(monkeypatch, Second(), 5)
    assert not after_others and set(after_own) == {AFTER_OWN_S}
