"""`kbench run` as its user meets it: files, resuming, kills, interruptions, faults, and the commands that read runs."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kbench.device.lease import Lease
from kbench.sweep.schema import config_schema
from kbench.sweep.store import read
from made import collection

KBENCH = [sys.executable, "-m", "kbench.cli.main"]
CONFIG = "device: cpu\nbudget: 0.02\ntrials: 1\n"
KILLS = int(os.environ.get("KBENCH_KILLS", "3"))
GONE_S = 2.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    collection(tmp_path)
    (tmp_path / "sweep.yaml").write_text(CONFIG)
    return tmp_path


def kbench(root: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*KBENCH, *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **(env or {})},
    )


def started(root: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*KBENCH, "run", "sweep.yaml", *arguments],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def descendants(pid: int) -> dict[int, str]:
    """Every process below, with the moment it was started: a pid may be given again."""
    parents: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            parents[int(path.parent.name)] = (int(fields[1]), fields[19])
    found: dict[int, str] = {}
    fresh = {pid}
    while fresh:
        fresh = {child for child, (parent, _) in parents.items() if parent in fresh} - set(found)
        found |= {child: parents[child][1] for child in fresh}
    return found


def alive(processes: dict[int, str]) -> Iterator[int]:
    for pid, began in processes.items():
        with contextlib.suppress(OSError, IndexError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            if fields[19] == began and fields[0] != "Z":
                yield pid


def demand_gone(processes: dict[int, str]) -> None:
    began = time.monotonic()
    while left := list(alive(processes)):
        assert time.monotonic() - began < GONE_S, [Path(f"/proc/{pid}/comm").read_text() for pid in left]
        time.sleep(0.02)


def lines(root: Path, name: str = "sweep") -> list[str]:
    path = root / "results" / name / "results.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def wait_for_lines(root: Path, count: int, process: subprocess.Popen[str]) -> None:
    began = time.monotonic()
    while len(lines(root)) < count:
        assert time.monotonic() - began < 60 and process.poll() is None, process.communicate()
        time.sleep(0.02)


def test_a_run_leaves_its_files_and_is_not_run_twice(root: Path) -> None:
    done = kbench(root, "run", "sweep.yaml")
    assert done.returncode == 0, done.stderr
    folder = root / "results" / "sweep"
    assert sorted(path.name for path in folder.iterdir()) == [
        "environment.json",
        "leaderboard.csv",
        "leaderboard.md",
        "results.jsonl",
    ]
    told = done.stderr.splitlines()
    assert told[0] == "6 pairs on cpu"
    assert [line.split("]")[0] for line in told[1:7]] == [f"[{n}/6" for n in range(1, 7)]
    assert told[7] == f"kbench: 6 results (6 new), 0 not passed; in {folder}"
    assert "Sets" in done.stdout and "Best of each problem" in done.stdout
    assert len(list(csv.DictReader((folder / "leaderboard.csv").open()))) == 6
    assert "easy/one" in (folder / "leaderboard.md").read_text()
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["environment"]["torch"] and environment["devices"][0]["kind"] == "cpu"
    for result in read(folder):
        assert result.run and result.run.key and result.run.held_s and result.settings
        assert result.settings.budget_s == 0.02 and result.settings.baselines == ("eager",)

    again = kbench(root, "run", "sweep.yaml")
    assert again.returncode == 0
    assert "0 pairs on cpu, 6 done already" in again.stderr
    assert len(lines(root)) == 6


def test_what_changed_is_run_again_and_what_was_asked_for(root: Path) -> None:
    broken = root / "solutions" / "easy" / "one" / "plain_0.py"
    good = broken.read_text()
    broken.write_text(good.replace("* self.weight", "* 2"))
    first = kbench(root, "run", "sweep.yaml")
    assert first.returncode == 1 and "1 not passed" in first.stderr, first.stderr
    assert "1 pair on cpu, 5 done already" in kbench(root, "run", "sweep.yaml", "--rerun", "failed").stderr
    broken.write_text(good)
    mended = kbench(root, "run", "sweep.yaml")
    assert mended.returncode == 0 and "1 pair on cpu, 5 done already" in mended.stderr
    compared = kbench(root, "compare", "results/sweep", "results/sweep")
    assert compared.returncode == 0 and "6 pairs: 6 SAME" in compared.stdout
    assert kbench(root, "run", "sweep.yaml", "--budget", "0.03", "--dry-run").stdout.count("todo") == 6
    other = kbench(root, "run", "sweep.yaml", "-k", "two", "--rerun", "all")
    assert "3 pairs on cpu\n" in other.stderr
    assert len(lines(root)) == 6 + 1 + 1 + 3


def test_a_dry_run_runs_nothing_and_says_what_is_left(root: Path) -> None:
    first = kbench(root, "run", "sweep.yaml", "--dry-run")
    assert first.returncode == 0 and first.stdout.count("todo  cpu ") == 6
    assert "0 of 6 pairs done" in first.stdout and "about" in first.stdout
    assert not (root / "results").exists()
    kbench(root, "run", "sweep.yaml", "-k", "one")
    second = kbench(root, "run", "sweep.yaml", "--dry-run")
    assert second.stdout.count("done  cpu ") == 3 and "3 of 6 pairs done" in second.stdout


def test_shards_make_one_run(root: Path) -> None:
    for number in (1, 2):
        assert kbench(root, "run", "sweep.yaml", "--shard", f"{number}/2").returncode == 0
    found = [*read(root / "results" / "sweep-1of2"), *read(root / "results" / "sweep-2of2")]
    assert len({(one.problem.id, one.solution.id) for one in found}) == len(found) == 6
    merged = kbench(root, "leaderboard", "results/sweep-1of2", "results/sweep-2of2", "--format", "csv")
    assert len(merged.stdout.splitlines()) == 7


def test_settings_come_from_the_file_the_environment_and_options(root: Path) -> None:
    def budget(*options: str, **variables: str) -> float:
        name = f"run{len(list(root.glob('results/*')))}"
        done = kbench(root, "run", "sweep.yaml", "-k", "one*plain_0", "--name", name, *options, env=variables)
        assert done.returncode == 0, done.stderr
        (result,) = read(root / "results" / name)
        assert result.settings
        return result.settings.budget_s

    assert budget() == 0.02
    assert budget(KBENCH_BUDGET="0.03") == 0.03
    assert budget("--budget", "0.04", KBENCH_BUDGET="0.03") == 0.04
    bad = kbench(root, "run", "sweep.yaml", env={"KBENCH_BUDGET": "much"})
    assert bad.returncode == 2 and "KBENCH_BUDGET: 'much' is no number" in bad.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing.yaml",), "cannot read nothing.yaml"),
        (("sweep.yaml", "--shard", "3/2"), "--shard '3/2' is not I/N"),
        (("sweep.yaml", "-k", "nowhere"), "-k nowhere leaves no pair"),
        (("sweep.yaml", "--problems", "onne"), "no problem matches 'onne'; the nearest is 'one'"),
        (("sweep.yaml", "--baseline", "compil"), "--baseline: 'compil' is not known; the nearest is 'compile'"),
        (("sweep.yaml", "--device", "gpu"), "unknown device 'gpu'"),
        (("bad.yaml",), "bad.yaml:1:1: unknown key 'budgte'; the nearest is 'budget'\nbad.yaml:2:9: 'x' is no number"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_usage(root: Path, arguments: tuple[str, ...], says: str) -> None:
    (root / "bad.yaml").write_text("budgte: 1\ntrials: x\n")
    done = kbench(root, "run", *arguments)
    assert done.returncode == 2 and says in done.stderr and "fix: " in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert not (root / "results").exists()


def test_a_device_that_is_not_there_is_exit_3(root: Path) -> None:
    done = kbench(root, "run", "sweep.yaml", "--device", "cuda:7")
    assert done.returncode == 3 and "no such device" in done.stderr, done.stderr


def test_a_problem_with_a_fault_is_left_out_and_the_rest_runs(root: Path) -> None:
    bad = root / "problems" / "easy" / "bad.py"
    bad.write_text((root / "problems" / "easy" / "one.py").read_text() + "raise ValueError('here')\n")
    (root / "solutions" / "easy" / "bad").mkdir()
    (root / "solutions" / "easy" / "bad" / "a.py").write_text("class ModelNew: ...\n")
    (root / "problems" / "easy" / "worse.py").write_text("def (\n")
    done = kbench(root, "run", "sweep.yaml")
    assert done.returncode == 2
    assert "easy/worse is left out" in done.stderr
    assert "not judged: easy/bad [cpu]  easy/bad/a" in done.stderr and "here" in done.stderr
    assert len(lines(root)) == 6


def test_where_nothing_is_left_what_was_left_out_is_said(root: Path) -> None:
    for path in (root / "problems" / "easy").glob("*.py"):
        path.write_text("def (\n")
    done = kbench(root, "run", "sweep.yaml")
    assert done.returncode == 2 and "easy/one is left out" in done.stderr, done.stderr
    assert "no solution of these problems" in done.stderr and "fix: see kbench list" in done.stderr
    assert not (root / "results").exists()


def test_enough_failures_stop_it(root: Path) -> None:
    for path in root.glob("solutions/easy/*/*.py"):
        path.write_text("nothing = 1\n")
    done = kbench(root, "run", "sweep.yaml", "--max-failures", "2")
    assert done.returncode == 1
    assert "2 solutions did not pass" in done.stderr and "not reached" in done.stderr
    assert 2 <= len(lines(root)) <= 3  # what had begun meanwhile is finished


def test_two_runs_do_not_write_to_one_folder(root: Path) -> None:
    process = started(root)
    wait_for_lines(root, 1, process)
    process.send_signal(signal.SIGSTOP)  # or it might be done before the other one looks
    other = kbench(root, "run", "sweep.yaml")
    process.send_signal(signal.SIGCONT)
    assert other.returncode == 3 and "another kbench run is writing" in other.stderr
    assert process.wait(60) == 0
    assert len(lines(root)) == 6


def test_a_kill_of_the_whole_group_loses_nothing_and_leaves_nothing(root: Path) -> None:
    """Again and again at random moments; then what is there is whole, and the rest is done once."""
    collection(root, count=10)
    (root / "sweep.yaml").write_text(CONFIG.replace("0.02", "0.2"))  # so that most kills meet it at work
    draw = random.Random(os.urandom(8))
    for _ in range(KILLS):
        before = lines(root)
        process = started(root)
        time.sleep(draw.uniform(0.3, 4.0))
        below = descendants(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        demand_gone(below)
        Lease("cpu").acquire(lambda pid: pytest.fail(f"process {pid} still has the device"))
        assert lines(root)[: len(before)] == before
        print(f"{len(before)} results before, {len(lines(root))} after")
    done = kbench(root, "run", "sweep.yaml")
    assert done.returncode == 0, done.stderr
    keys = [json.loads(line)["run"]["key"] for line in lines(root)]
    assert len(keys) == len(set(keys)) == 20
    assert len(list(csv.DictReader((root / "results" / "sweep" / "leaderboard.csv").open()))) == 20


def test_interrupted_once_it_saves_what_runs_and_says_how_to_go_on(root: Path) -> None:
    (root / "sweep.yaml").write_text(CONFIG.replace("0.02", "1"))
    process = started(root)
    wait_for_lines(root, 1, process)
    below = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "finishing what is being timed" in said and "the same command goes on" in said
    demand_gone(below)
    saved = len(lines(root))
    assert 1 <= saved < 6
    (root / "results" / "sweep" / "leaderboard.md").read_text()
    assert f"{saved} done already" in kbench(root, "run", "sweep.yaml").stderr
    assert len(lines(root)) == 6


def test_interrupted_twice_it_stops_at_once(root: Path) -> None:
    (root / "sweep.yaml").write_text(CONFIG.replace("0.02", "20"))
    process = started(root)
    time.sleep(4)
    below = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130 and time.monotonic() - began < GONE_S
    demand_gone(below)


def test_a_referee_that_is_killed_is_replaced(root: Path) -> None:
    (root / "sweep.yaml").write_text(CONFIG.replace("0.02", "0.5"))
    process = started(root)
    wait_for_lines(root, 1, process)
    time.sleep(0.2)  # into the next pair: between two it would be replaced without a word
    (referee,) = [pid for pid in descendants(process.pid) if _name(pid) == "kbench.referee"]
    os.kill(referee, signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "will be tried again: the referee ended (by SIGKILL)" in said
    found = read(root / "results" / "sweep")
    assert len(found) == 6 and {one.verdict for one in found} == {"passed"}
    assert sorted(one.run.attempts for one in found if one.run) == [1, 1, 1, 1, 1, 2]


def test_a_full_disk_stops_it_with_what_to_do(root: Path) -> None:
    (root / "sweep.yaml").write_text(CONFIG.replace("0.02", "0.3"))
    process = started(root)
    wait_for_lines(root, 2, process)
    # The kernel takes a part of the next line and refuses the rest, as a disk does that fills.
    room = (root / "results" / "sweep" / "results.jsonl").stat().st_size + 100
    _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (room, hard))
    below = descendants(process.pid)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3, said
    assert "cannot write a result" in said and "run the same command again" in said and "Traceback" not in said
    demand_gone(below)
    saved = len(read(root / "results" / "sweep"))
    assert 2 <= saved < 6 and len(lines(root)) == saved
    assert kbench(root, "run", "sweep.yaml").returncode == 0
    assert len(lines(root)) == 6


def test_sets_are_ranked_and_overrides_reach_the_problem(root: Path) -> None:
    (root / "replies").mkdir()
    model = (root / "solutions" / "easy" / "one" / "plain_0.py").read_text()
    (root / "replies" / "one_sample_1.md").write_text(f"Here it is:\n```python\n{model}\n```\n")
    (root / "replies" / "one_sample_2.md").write_text("I cannot do that.\n")
    text = (
        CONFIG + "problems: one\nsets:\n  ours: solutions\n  model: {folder: replies}\noverrides:\n  one: {trials: 2}\n"
    )
    (root / "sweep.yaml").write_text(text)
    done = kbench(root, "run", "sweep.yaml")
    assert done.returncode == 1, done.stderr
    found = read(root / "results" / "sweep")
    assert {one.run.set for one in found if one.run} == {"ours", "model"}
    assert all(one.settings and one.settings.trials == 2 for one in found)
    board = kbench(root, "leaderboard", "results/sweep", "--by", "set").stdout
    assert "ours" in board and "1 load_failed" in board


def test_showing_and_running_one_again(root: Path) -> None:
    kbench(root, "run", "sweep.yaml", "-k", "plain_0")
    result = read(root / "results" / "sweep")[0]
    assert result.run
    shown = kbench(root, "show", result.run.key[:8])
    assert shown.returncode == 0, shown.stderr
    assert result.run.key in shown.stdout and "environment" in shown.stdout
    (again,) = [line.removeprefix("again").strip() for line in shown.stdout.splitlines() if line.startswith("again")]
    repeated = kbench(root, *shlex.split(again)[1:])
    assert repeated.returncode == 0, repeated.stderr
    several = kbench(root, "show", "easy")
    assert several.returncode == 2 and "means 2 results" in several.stderr
    assert kbench(root, "show", "zzz").returncode == 2
    assert json.loads(kbench(root, "show", result.run.key, "--json").stdout)["run"]["key"] == result.run.key


def test_comparing_runs_for_ci(root: Path) -> None:
    kbench(root, "run", "sweep.yaml", "--name", "before")
    broken = root / "solutions" / "easy" / "one" / "plain_0.py"
    broken.write_text(broken.read_text().replace("* self.weight", "* 2"))
    kbench(root, "run", "sweep.yaml", "--name", "after")
    worse = kbench(root, "compare", "results/before", "results/after")
    assert worse.returncode == 1 and "BROKE" in worse.stdout and "1 BROKE" in worse.stdout
    better = kbench(root, "compare", "results/after", "results/before", "--json")
    changes = [json.loads(line)["change"] for line in better.stdout.splitlines()]
    assert changes.count("FIXED") == 1 and len(changes) == 6
    assert better.returncode == (1 if "SLOWER" in changes else 0)


def test_a_compiled_baseline_is_measured_once_and_kept(root: Path) -> None:
    env = {"KBENCH_CACHE": str(root / "cache")}
    text = CONFIG + "problems: one\nbaseline: compile\n"
    (root / "sweep.yaml").write_text(text)
    done = kbench(root, "run", "sweep.yaml", env=env)
    assert done.returncode == 0, done.stderr
    found = read(root / "results" / "sweep")
    kept = {one.baselines["compile"].kept for one in found}
    assert len(kept) == 1 and None not in kept
    assert all(one.baselines["compile"].cost_s for one in found)
    assert all(set(one.speedup) == {"eager", "compile"} for one in found)
    assert len(list((root / "cache" / "baselines").iterdir())) == 1
    board = kbench(root, "leaderboard", "results/sweep", "--against", "compile")
    assert "over the compile baseline" in board.stdout
    wrong = kbench(root, "leaderboard", "results/sweep", "--against", "compil")
    assert wrong.returncode == 2 and "nearest is 'compile'" in wrong.stderr


def test_the_schema_knows_every_key() -> None:
    schema = config_schema()
    assert {"problems", "budget", "sets", "overrides", "require-jail"} <= set(schema["properties"])
    assert schema["properties"]["budget"]["exclusiveMinimum"] == 0
    assert schema["additionalProperties"] is False


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
