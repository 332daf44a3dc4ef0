"""`kbench lint-problem`: each of its checks has a problem here that it rejects."""

from __future__ import annotations

import json
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import HERE, ROOT
from kbench.client import Referee
from kbench.errors import ProblemFault
from kbench.records import Complaint, LintCheck, Linted
from kbench.referee import lint

KBENCH = [sys.executable, "-m", "kbench.cli.main"]
GOOD = HERE / "fixtures" / "linear.py"
FORWARD, DRAWN = "return self.linear(x)", "torch.randn(rows, width)"
SETTINGS = 'KBENCH = dict(workloads={"default": {}, "cpu": dict(rows=64)})'
# What is changed in a good problem, and the checks that must say so.
BAD: dict[str, tuple[dict[str, str], set[LintCheck]]] = {
    "tiny": ({FORWARD: "return self.linear(x) * 1e-7"}, {"small"}),
    "tiny and loose": (
        {FORWARD: "return self.linear(x) * 1e-7", SETTINGS: f"{SETTINGS[:-1]}, norm_tol=2)"},
        {"zeros", "small"},
    ),
    "constant": ({FORWARD: "return torch.ones_like(x) * 3"}, {"constant", "flat", "weights", "idle"}),
    "nearly constant": ({FORWARD: "return self.linear(x) * 1e-6 + 5"}, {"mean"}),
    "identity": ({FORWARD: "return x + 0 * self.linear(x)"}, {"copy", "weights"}),
    "idle rows": ({FORWARD: "y = self.linear(x)\n        y[-2:] = 0\n        return y"}, {"rows"}),
    "loose": ({SETTINGS: f"{SETTINGS[:-1]}, atol=0.1, rtol=0.1, norm_tol=0.1)"}, {"coarse"}),
    "idle bias": ({FORWARD: "return x @ self.linear.weight"}, {"idle"}),
    "inputs ignored": ({FORWARD: "return self.linear.weight[: x.shape[0]] * 30 + 0 * x"}, {"unmoved"}),
    "positive": ({DRAWN: "torch.rand(rows, width)"}, {"one-sided"}),
    "short": ({"width = 512": "width = 4"}, {"short"}),
}


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    with Referee("cpu", root=str(ROOT)) as warm:
        yield warm


def problem(folder: Path, changes: dict[str, str]) -> Path:
    text = GOOD.read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "problem.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", BAD)
def test_each_check_rejects_something(name: str, referee: Referee, tmp_path: Path) -> None:
    changes, expected = BAD[name]
    (linted,) = referee.lint(problem(tmp_path, changes))
    assert expected <= {complaint.check for complaint in linted.complaints}, linted.complaints
    assert not linted.passed


def test_every_check_is_tried() -> None:
    assert {check for _, checks in BAD.values() for check in checks} == set(typing.get_args(LintCheck))


def test_a_good_problem_passes(referee: Referee) -> None:
    assert referee.lint(GOOD) == [Linted("linear", "cpu", ())]
    assert [linted.workload for linted in referee.lint(GOOD, ["all"])] == ["default", "cpu"]


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "uint16"])
def test_a_type_without_arithmetic_can_be_looked_at(kind: str, referee: Referee, tmp_path: Path) -> None:
    changes = {FORWARD: f"return (self.linear(x) * 20).abs().to(torch.{kind})"}
    (linted,) = referee.lint(problem(tmp_path, changes))
    assert "weights" not in {complaint.check for complaint in linted.complaints}, linted.complaints


def test_what_a_problem_allows_with_a_reason_is_fine(referee: Referee, tmp_path: Path) -> None:
    lint = f'{SETTINGS[:-1]}, lint={{"one-sided": "probabilities"}})'
    (linted,) = referee.lint(problem(tmp_path, {DRAWN: "torch.rand(rows, width)", SETTINGS: lint}))
    assert linted.passed
    assert [(one.check, one.allowed) for one in linted.complaints] == [("one-sided", "probabilities")]


@pytest.mark.parametrize("lint", ['{"one-sided": ""}', '["one-sided"]', '{"one_sided": "so"}'])
def test_a_reason_must_be_given_for_a_check_that_exists(lint: str, referee: Referee, tmp_path: Path) -> None:
    with pytest.raises(ProblemFault, match="lint"):
        referee.lint(problem(tmp_path, {SETTINGS: f"{SETTINGS[:-1]}, lint={lint})"}))


def test_a_problem_that_cannot_be_run_is_its_own_fault(referee: Referee, tmp_path: Path) -> None:
    with pytest.raises(ProblemFault):
        referee.lint(problem(tmp_path, {FORWARD: "raise ValueError"}))
    assert referee.lint(GOOD)[0].passed


def lint_problem(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*KBENCH, "lint-problem", *arguments, "--device", "cpu"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command(tmp_path: Path) -> None:
    bad = problem(tmp_path, {DRAWN: "torch.rand(rows, width)"})
    done = lint_problem(str(GOOD), str(bad))
    assert done.returncode == 1, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first == "ok      linear [cpu]" and second == "FAILED  problem [cpu]"
    assert third.strip().startswith("one-sided: input 0 never changes its sign (")
    done = lint_problem(str(GOOD), "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["complaints"] == []


@pytest.mark.parametrize("path", sorted((ROOT / "problems").rglob("*.py")), ids=lambda path: path.stem)
def test_every_bundled_problem(path: Path, referee: Referee) -> None:
    for linted in referee.lint(path):
        assert linted.passed, linted.complaints


def test_what_is_allowed_does_not_fail() -> None:
    fine, bad = Complaint("short", "a call takes 3 us", "it is the point"), Complaint("short", "so", None)
    assert Linted("p", "default", (fine,)).passed
    assert not Linted("p", "default", (fine, bad)).passed


@pytest.mark.parametrize(
    ("draws", "told"),
    [
        ([["unmoved", "small"], ["small"]], ["small"]),
        ([["unmoved"], []], []),
        ([[]], []),
        ([["one-sided"]], ["one-sided"]),  # which the problem allows: one draw is enough
    ],
)
def test_what_one_draw_shows_must_be_in_the_next_one_too(
    draws: list[list[LintCheck]], told: list[LintCheck], monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [[Complaint(name, "so", "why" if name == "one-sided" else None) for name in draw] for draw in draws]
    nothing: Any = None
    monkeypatch.setattr(lint, "Linter", lambda *_: SimpleNamespace(complaints=lambda: left.pop(0)))
    assert [one.check for one in lint.complaints(nothing, nothing, "cpu", nothing)] == told and not left


def test_a_problem_with_random_outputs_is_at_fault(referee: Referee, tmp_path: Path) -> None:
    path = problem(tmp_path, {FORWARD: "return self.linear(x) + torch.rand_like(x)"})
    with pytest.raises(ProblemFault, match="random outputs cannot be checked"):
        referee.lint(path)
    assert referee.lint(GOOD)[0].passed
