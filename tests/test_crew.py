"""Devices and builders at work: a referee that dies, a GPU that vanishes, a disk that fills, an interruption."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from kbench.errors import DoesNotFit, KbenchError, MachineFault, ProblemFault, RefereeDied, UsageFault
from kbench.records import Result
from kbench.sweep.crew import Crew
from kbench.sweep.events import Entered, Faulted, Finished, Interrupted, Lost
from kbench.sweep.folder import Folder
from kbench.sweep.pair import Pair
from kbench.sweep.run import Sweep, Tally
from kbench.sweep.schedule import kind_of
from kbench.sweep.store import Store, read
from made import H200, TORCH, FakeJudge, NoBuilder, nothing, pair, raising


class Log:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def began(self, todo: object, done: int, devices: object) -> None:
        self.said.append(f"done {done}")

    def entered(self, event: Entered) -> None:
        pass

    def finished(self, event: Finished) -> None:
        self.said.append(f"{event.device} {event.pair.solution_id}")

    def faulted(self, event: Faulted) -> None:
        self.said.append(f"{event.device} {event.pair.solution_id} again {event.again}")

    def lost(self, event: Lost) -> None:
        self.said.append(f"lost {event.device}")

    def stopping(self, why: str) -> None:
        self.said.append(why)

    def close(self) -> None:
        pass


def run(
    folder: Path,
    pairs: list[Pair],
    script: Callable[[str, Pair], None] = nothing,
    devices: tuple[str, ...] = ("cuda:0", "cuda:1"),
    alive: Callable[[str], None] = nothing,
    retries: int = 1,
    max_failures: int | None = None,
    hold: Callable[[Crew], None] = nothing,
) -> tuple[Tally, Log]:
    log = Log()
    crew = Crew(lambda device: FakeJudge(device, script, alive), 2, NoBuilder)
    sweep = Sweep(crew, list(devices), retries, log, max_failures=max_failures)
    with Folder(folder, "test") as kept:
        places = sweep.gather()
        hold(crew)
        tally = sweep.run(pairs, places, kept)
        crew.join()
        kept.publish()
    return tally, log


def solutions(count: int) -> list[Pair]:
    return [pair(f"p{number // 4}", f"s{number}") for number in range(count)]


def test_everything_is_done_once_and_not_again(tmp_path: Path) -> None:
    tally, _ = run(tmp_path, solutions(20))
    assert (tally.fresh, tally.left, tally.unjudged) == (20, 0, [])
    again, log = run(tmp_path, solutions(20))
    assert (again.fresh, len(again.results)) == (0, 20)
    assert log.said == ["done 20"]
    assert len(read(tmp_path)) == 20


def test_a_referee_that_dies_is_started_again_and_the_solution_is_not_blamed(tmp_path: Path) -> None:
    deaths = Counter[str]()

    def script(device: str, of: Pair) -> None:
        deaths[of.solution_id] += 1
        if of.solution_id == "s5" and deaths["s5"] == 1:
            raise RefereeDied("the referee ended (by SIGKILL)")

    tally, log = run(tmp_path, solutions(8), script)
    assert tally.fresh == 8 and not tally.unjudged
    (fault,) = [line for line in log.said if "again" in line]
    elsewhere = "cuda:1" if fault.startswith("cuda:0") else "cuda:0"
    assert f"{elsewhere} s5" in log.said
    (attempts,) = [one.run.attempts for one in read(tmp_path) if one.solution.id == "s5" and one.run]
    assert attempts == 2


def test_one_that_always_dies_is_not_judged_and_the_rest_is(tmp_path: Path) -> None:
    def script(device: str, of: Pair) -> None:
        if of.solution_id == "s2":
            raise RefereeDied("the referee ended")

    tally, _ = run(tmp_path, solutions(6), script)
    assert [one.solution_id for one, _ in tally.unjudged] == ["s2"]
    assert len(read(tmp_path)) == 5


def test_a_gpu_that_vanishes_hands_its_pairs_to_the_others(tmp_path: Path) -> None:
    gone, count = threading.Event(), Counter[str]()

    def script(device: str, of: Pair) -> None:
        time.sleep(0.01)
        count[device] += 1
        if device == "cuda:1" and count[device] == 2:
            gone.set()
            raise RefereeDied("CUDA error: the device was lost")

    def alive(device: str) -> None:
        if device == "cuda:1" and gone.is_set():
            raise MachineFault("no such device here: cuda:1")

    tally, log = run(tmp_path, solutions(16), script, alive=alive)
    assert "lost cuda:1" in log.said
    assert tally.fresh == 16 and not tally.unjudged
    assert {one.verdict for one in read(tmp_path)} == {"passed"}


def test_without_any_device_left_the_rest_is_said_to_be_unjudged(tmp_path: Path) -> None:
    calls = Counter[str]()

    def alive(device: str) -> None:
        calls[device] += 1
        if calls[device] > 9:
            raise MachineFault("the device is lost")

    tally, log = run(tmp_path, solutions(16), devices=("cuda:0",), alive=alive)
    assert "lost cuda:0" in log.said
    assert 0 < tally.fresh < 16
    assert tally.fresh + len(tally.unjudged) + tally.left == 16
    assert all(isinstance(fault, MachineFault) for _, fault in tally.unjudged)


def test_a_machine_that_fails_one_problem_after_the_other_is_given_up(tmp_path: Path) -> None:
    tried: list[str] = []

    def script(device: str, of: Pair) -> None:
        tried.append(of.solution_id)
        raise MachineFault("no room for a worker's scratch", "free some disk")

    tally, log = run(tmp_path, [pair(f"p{n}", f"s{n}") for n in range(50)], script, devices=("cuda:0",))
    assert "lost cuda:0" in log.said
    assert len(tried) <= 8
    assert tally.fresh == 0
    assert len(tally.unjudged) == 50
    assert read(tmp_path) == []


@pytest.mark.parametrize("fault", [ProblemFault("bad"), UsageFault("bad"), DoesNotFit("too large")], ids=repr)
def test_what_would_fail_again_is_not_tried_again(tmp_path: Path, fault: KbenchError) -> None:
    tally, log = run(tmp_path, [pair(f"p{n}", f"s{n}") for n in range(9)], raising(fault))
    assert len(tally.unjudged) == 9
    assert not [line for line in log.said if "again True" in line or "lost" in line]


def test_no_device_at_all_is_raised(tmp_path: Path) -> None:
    with pytest.raises(MachineFault, match="no such device"):
        run(tmp_path, solutions(4), alive=raising(MachineFault("no such device here")))


def test_one_of_two_devices_missing_from_the_start(tmp_path: Path) -> None:
    def alive(device: str) -> None:
        if device == "cuda:1":
            raise MachineFault("no such device here: cuda:1")

    tally, log = run(tmp_path, solutions(8), alive=alive)
    assert tally.fresh == 8 and log.said[0] == "lost cuda:1"


def test_gpus_that_differ_do_not_share_a_table(tmp_path: Path) -> None:
    class Mixed(FakeJudge):
        def start(self) -> tuple[object, object]:  # type: ignore[override]
            name = H200.name if self.device == "cuda:0" else "NVIDIA A100"
            return type(H200)(kind="cuda", name=name), TORCH

    crew = Crew(lambda device: Mixed(device, nothing, nothing), 1, NoBuilder)  # type: ignore[arg-type,return-value]
    with pytest.raises(UsageFault, match="the GPUs differ"):
        Sweep(crew, ["cuda:0", "cuda:1"], 1, Log()).gather()


def test_an_interruption_finishes_what_runs_and_saves_it(tmp_path: Path) -> None:
    begun = threading.Event()
    crews: list[Crew] = []

    def script(device: str, of: Pair) -> None:
        if not begun.is_set():
            begun.set()
            crews[0].events.put(Interrupted())
        time.sleep(0.05)

    tally, log = run(tmp_path, solutions(20), script, hold=crews.append)
    assert tally.interrupted and "interrupted" in log.said
    assert 1 <= tally.fresh <= 4
    assert tally.fresh == len(read(tmp_path))
    assert tally.left == 20 - tally.fresh


def test_a_disk_that_fills_stops_the_run_and_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, count = type(Folder(tmp_path / "x", "x").store).append, Counter[str]()

    def filling(self: Store, one: Result) -> None:
        count["lines"] += 1
        if count["lines"] > 5:
            raise MachineFault("cannot write a result: No space left on device", "free some disk")
        append(self, one)

    monkeypatch.setattr("kbench.sweep.store.Store.append", filling)
    with pytest.raises(MachineFault, match="No space left"):
        run(tmp_path / "run", solutions(12))
    assert len(read(tmp_path / "run")) == 5
    monkeypatch.undo()
    tally, log = run(tmp_path / "run", solutions(12))
    assert log.said[0] == "done 5" and tally.fresh == 7
    assert len({one.solution.id for one in read(tmp_path / "run")}) == len(read(tmp_path / "run")) == 12


def test_a_bug_in_a_thread_reaches_whoever_waits(tmp_path: Path) -> None:
    def script(device: str, of: Pair) -> None:
        raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError):
        run(tmp_path, solutions(4), script)


def test_the_devices_close_what_they_hired(tmp_path: Path) -> None:
    hired: list[FakeJudge] = []

    def hire(device: str) -> FakeJudge:
        hired.append(FakeJudge(device, nothing, nothing))
        return hired[-1]

    crew = Crew(hire, 1, NoBuilder)
    sweep = Sweep(crew, ["cuda:0", "cpu"], 1, Log())
    with Folder(tmp_path, "x") as folder:
        sweep.run([*solutions(4), pair("q", "c", device="cpu")], sweep.gather(), folder)
    crew.join()
    assert all(judge.closed for judge in hired) and len(hired) == 2
    assert {kind_of(judge.device) for judge in hired} == {"cpu", "cuda"}


def test_pairs_of_a_kind_that_does_not_come_up_are_not_forgotten(tmp_path: Path) -> None:
    def alive(device: str) -> None:
        if device != "cpu":
            raise MachineFault("no such device here")

    pairs = [*solutions(4), pair("q", "c", device="cpu")]
    tally, _ = run(tmp_path, pairs, devices=("cpu", "cuda:0"), alive=alive)
    assert tally.fresh == 1
    assert sorted(one.solution_id for one, _ in tally.unjudged) == ["s0", "s1", "s2", "s3"]
