"""The command line as a user meets it: exit codes, messages, JSON, files, golden output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner
from conftest import AFFINE, BROKEN, CHEATS, HERE, ROOT, Evaluate
from kbench.cli.main import COMMANDS, kbench
from kbench.records import Result, result_schema
from kbench.report import text

GOLDEN = HERE / "golden"
QUICK = ("--device", "cpu", "--budget", "0.1", "--trials", "2")


def run(*arguments: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kbench.cli.main", *arguments]
    environment = {**os.environ, **(env or {})}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False, env=environment)


def solution(name: str) -> str:
    return str(CHEATS / f"{name}.py" if (CHEATS / f"{name}.py").exists() else BROKEN / "solutions" / f"{name}.py")


def test_a_pass_is_exit_0_and_ends_with_the_verdict() -> None:
    done = run("eval", str(AFFINE), solution("passed__plain"), *QUICK)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("affine [cpu]")
    assert lines[1].startswith("device")
    assert lines[-1].startswith("PASSED  ")
    assert re.search(r"\[-?\d+\.\d\d, -?\d+\.\d\d\]$", lines[-1])
    assert max(map(len, lines)) <= 80
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((str(AFFINE), solution("wrong__zeros")), 1, "WRONG"),
        ((str(AFFINE), "no/such/solution.py"), 2, "no solution"),
        (("no/such/problem.py", str(AFFINE)), 2, "no problem"),
        ((str(AFFINE), str(AFFINE), "--device", "tpu"), 2, "unknown device"),
        ((str(AFFINE), str(AFFINE), "--workload", "cpuu"), 2, "nearest is 'cpu'"),
        ((str(AFFINE), str(AFFINE), "--timeout", "call"), 2, "--timeout: 'call' is not STAGE=SECONDS"),
        ((str(AFFINE), str(AFFINE), "--timeout", "call=soon"), 2, "'soon' is no number"),
        ((str(AFFINE), str(AFFINE), "--trials", "0"), 2, "at least 1"),
        ((str(AFFINE), str(AFFINE), "--output", "/no/such/folder/x"), 2, "cannot write"),
        ((str(AFFINE), str(AFFINE), "--root", "/"), 2, "no problems/"),
        ((str(AFFINE), str(AFFINE), "--bogus"), 2, "No such option"),
        ((str(BROKEN / "problems" / "unknown_key.py"), str(AFFINE)), 2, "nearest is 'grad'"),
        ((str(AFFINE), str(AFFINE), "--device", "cuda:7"), 3, "no such device"),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_exit_codes(arguments: tuple[str, ...], code: int, says: str) -> None:
    done = run("eval", *arguments[:2], *QUICK, *arguments[2:])
    assert done.returncode == code, (done.stdout, done.stderr)
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if code > 1 and "No such option" not in says:
        assert "fix: " in done.stderr


def test_json_is_one_object_a_workload_and_is_appended_to_the_output(tmp_path: Path) -> None:
    kept = tmp_path / "results.jsonl"
    kept.write_text("{}\n")
    done = run(
        "eval", str(AFFINE), solution("passed__plain"), *QUICK, "--workload", "all", "--json", "--output", str(kept)
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    results = [msgspec.json.decode(line, type=Result) for line in lines]
    assert [result.problem.workload for result in results] == ["default", "cpu"]
    assert kept.read_text().splitlines() == ["{}", *lines]
    first = json.loads(lines[0])
    assert first["schema"] == 1
    assert first["reason"] is None and first["seed"] is None and len(first["seeds"]) == 1
    assert first["attestation"]["method"] == "referee-clock"
    assert set(first["speedup"]) == {"eager"} and first["check"]["calls"] >= 40


def test_a_failure_is_reproduced_by_its_seed(tmp_path: Path) -> None:
    first = json.loads(run("eval", str(AFFINE), solution("wrong__nan"), *QUICK, "--json").stdout)
    again = run("eval", str(AFFINE), solution("wrong__half_inside"), *QUICK, "--json", "--seed", str(first["seeds"][0]))
    twice = run("eval", str(AFFINE), solution("wrong__half_inside"), *QUICK, "--json", "--seed", str(first["seeds"][0]))
    left, right = json.loads(again.stdout), json.loads(twice.stdout)
    assert left["seed"] == first["seeds"][0]
    assert left["check"]["mismatch"] == right["check"]["mismatch"]


def test_several_processes_and_baselines_are_reported() -> None:
    done = run("eval", str(AFFINE), solution("passed__plain"), *QUICK, "--processes", "2", "--json")
    result = msgspec.json.decode(done.stdout, type=Result)
    assert result.timing is not None and result.timing.processes == 2
    assert result.timing.rounds == len(result.timing.samples_ms)


def test_keep_copies_the_scratch(tmp_path: Path) -> None:
    run("eval", str(AFFINE), solution("passed__plain"), *QUICK, "--keep", str(tmp_path / "kept"))
    assert (tmp_path / "kept" / "scratch" / "solution" / "passed__plain.py").exists()


def test_flags_that_a_solution_changed_are_named() -> None:
    done = run("eval", str(AFFINE), solution("passed__sets_flags"), *QUICK, "--json")
    changed = json.loads(done.stdout)["solution"]["changed"]
    assert "cudnn.benchmark=True" in changed and "environ SOLUTION_WAS_HERE" in changed


def test_a_home_and_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    env = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked)}
    done = run("eval", str(AFFINE), solution("passed__plain"), *QUICK, env=env)
    assert done.returncode == 0, done.stderr


def test_no_compiler_is_exit_3(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    env = {"PATH": str(tmp_path / "bin"), "CXX": "/nowhere/c++", "KBENCH_CACHE": str(tmp_path / "cache")}
    done = run("eval", str(AFFINE), solution("build_failed__syntax"), *QUICK, env=env)
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "no C++ compiler" in done.stderr and "apt-get install g++" in done.stderr


def test_a_second_evaluation_waits_for_the_first_and_says_so() -> None:
    from kbench.device.lease import Lease

    lease = Lease("cpu")
    lease.acquire(lambda pid: None)
    command = [sys.executable, "-m", "kbench.cli.main", "eval", str(AFFINE), solution("passed__plain"), *QUICK]
    waiting = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert waiting.stderr is not None
    assert f"held by process {os.getpid()}" in waiting.stderr.readline()
    lease.release()
    out, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0 and "PASSED" in out


def test_list_doctor_and_schema() -> None:
    listed = CliRunner().invoke(kbench, ["list", "--root", str(ROOT)])
    assert "fusion/conv2d_divide_leaky_relu\n  channels_last_torch\n  epilogue_cpp\n  epilogue_cuda\n" in listed.output
    schema = run("schema")
    assert json.loads(schema.stdout) == json.loads(json.dumps(result_schema()))
    doctor = run("doctor")
    assert doctor.returncode in (0, 3)
    for name in ("python", "torch", "compiler", "jail", "cache"):
        assert re.search(rf"^(ok|warn|fail) +{name}", doctor.stdout, re.M), name
    report = run("doctor", "--report").stdout
    assert report.startswith("```") and report.rstrip().endswith("```")


def test_names_are_completed() -> None:
    env = {"_KBENCH_COMPLETE": "bash_complete", "COMP_WORDS": "kbench eval conv2d_d", "COMP_CWORD": "2"}
    script = Path(sys.executable).with_name("kbench")
    done = subprocess.run([script], cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert "conv2d_divide_leaky_relu" in done.stdout


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_golden_output(path: Path) -> None:
    """Stored results, one of each kind, and the lines they print. Regenerate with tests/golden/make.py."""
    result = msgspec.json.decode(path.read_bytes(), type=Result)
    lines = text.lines(result)
    assert max(map(len, lines)) <= 80
    assert "\n".join(lines) + "\n" == path.with_suffix(".txt").read_text()


def test_no_error_is_told_where_the_first_trial_fails(evaluate: Evaluate, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(AFFINE.read_text().replace("+ 1.0", "+ 2.0"))
    lines = text.lines(evaluate(wrong))
    (check,) = [line for line in lines if line.startswith("check")]
    assert "0 trials, 1 call" in check and "largest error" not in check


def test_the_list_of_commands_says_of_each_what_it_says_of_itself() -> None:
    for name, said in COMMANDS.items():
        command = kbench.get_command(click.Context(kbench), name)
        assert command is not None and command.get_short_help_str(limit=200) == said


def test_help_is_golden() -> None:
    shown = CliRunner().invoke(kbench, ["eval", "--help"], terminal_width=80, prog_name="kbench").output
    assert shown == (GOLDEN / "eval_help.txt").read_text()


def test_there_are_golden_results() -> None:
    assert len(list(GOLDEN.glob("*.json"))) >= 5
