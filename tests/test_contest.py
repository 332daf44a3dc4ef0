"""What the timed calls of a round are held to, and who is blamed. The sides only hand in outputs."""

from __future__ import annotations

import secrets
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import AFFINE
from kbench import problem, problem_settings, tree
from kbench.device.cpu import Cpu
from kbench.referee import check, numerics, truth
from kbench.referee.arena import Layout
from kbench.referee.busy import Watch
from kbench.referee.case import Case
from kbench.referee.check import Findings
from kbench.referee.contest import Contest, Done, Expected
from kbench.referee.reference import Reference
from kbench.referee.ruling import Stopped
from kbench.referee.size import Size

CALLS, OFF = 6, 3.0


class Round:
    """One round of the smallest problem. `runs` counts how often the reference ran for it."""

    def __init__(self) -> None:
        source = problem.read(AFFINE, "affine")
        settings = problem_settings.read(source, problem.load(source))
        self.reference = Reference(source, settings, "cpu", Cpu())
        model = self.reference.construct(self.reference.arguments(), 1)
        case = Case(self.reference, model, (), (), None, lambda dtype: numerics.tolerance(dtype, None, None, None))
        given = self.reference.draw(2)
        trial = truth.prepare(case, given, "a trial")
        findings = Findings()
        check.note(findings, trial)
        skeleton = tree.describe(given)
        layout = Layout(skeleton, trial.skeleton, (), 0)
        self.contest = Contest(case, findings, tree.tensors(given), skeleton, Size(CALLS, CALLS), layout, Watch())
        (self.inputs,), _ = self.contest.contents.fresh(3)
        self.right = self.inputs * model.weight.detach() + 1.0
        self.runs = 0
        self._count()

    def _count(self) -> None:
        run = self.reference.run

        def counting(*arguments: Any, **options: Any) -> Any:
            self.runs += 1
            return run(*arguments, **options)

        self.reference.run = counting  # type: ignore[method-assign]

    def side(self, name: str, *wrong: int) -> Done:
        """One that is off in these calls."""
        outputs = self.right.clone()
        for row in wrong:
            outputs[row] += OFF
        side = SimpleNamespace(
            name=name, is_solution=name == "solution", arena=SimpleNamespace(inputs=[self.inputs.clone()])
        )
        side.blamed = lambda stop: Blamed(name, stop)
        run = SimpleNamespace(untouched=lambda taken: True, finished=SimpleNamespace(odd={}))
        return Done(side, run, [outputs], slice(0, CALLS))  # type: ignore[arg-type]

    def verify(self, *done: Done) -> str | None:
        """Who is wrong."""
        self.runs = 0
        try:
            self.contest.verify([self.inputs], list(done))
        except Blamed as blamed:
            return blamed.name
        return None


class Blamed(Stopped):
    def __init__(self, name: str, stop: Stopped) -> None:
        super().__init__(stop.ruling)
        self.name = name


@pytest.fixture(scope="module", params=[CALLS, 2, 4])
def of_cpu(request: pytest.FixtureRequest) -> Round:
    """Its calls are compared all at once, or in groups."""
    made = Round()
    made.contest.group = request.param
    return made


def test_beside_eager_the_reference_runs_once_a_round(of_cpu: Round) -> None:
    assert of_cpu.verify(of_cpu.side("eager"), of_cpu.side("solution")) is None
    assert of_cpu.runs == 1


def test_an_input_that_the_reference_changes_in_a_later_call_only() -> None:
    made = Round()
    made.reference._changes_inputs = True
    done, after = made.side("solution"), made.inputs.clone()
    after[4] += 1
    assert done.side.arena
    (found,) = done.side.arena.inputs
    found[4] += 1
    expected: list[Expected] = [(None, [row]) for row in after]
    made.contest._verify_inputs(done, expected, range(CALLS), [made.inputs])
    found[2] += 1
    with pytest.raises(Stopped):
        made.contest._verify_inputs(done, expected, range(CALLS), [made.inputs])


@pytest.mark.parametrize("row", range(CALLS))
def test_a_call_that_is_wrong_is_found_wherever_it_is(of_cpu: Round, row: int) -> None:
    assert of_cpu.verify(of_cpu.side("eager"), of_cpu.side("solution", row)) == "solution"


@pytest.mark.parametrize("row", range(CALLS))
def test_where_eager_is_wrong_the_solution_is_not_blamed(of_cpu: Round, row: int) -> None:
    assert of_cpu.verify(of_cpu.side("eager", row), of_cpu.side("solution")) == "eager"


def test_both_wrong_alike_are_found_by_the_call_that_is_looked_at(
    of_cpu: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "randbelow", lambda count: 4)
    everywhere = range(CALLS)
    assert of_cpu.verify(of_cpu.side("eager", *everywhere), of_cpu.side("solution", *everywhere)) == "eager"
    assert of_cpu.verify(of_cpu.side("eager", 4), of_cpu.side("solution", 4)) == "eager"
    assert of_cpu.verify(of_cpu.side("eager", 3), of_cpu.side("solution", 3)) is None  # until another round


def test_an_input_that_a_side_changed_is_found(of_cpu: Round) -> None:
    for name in ("eager", "solution"):
        sides = {side: of_cpu.side(side) for side in ("eager", "solution")}
        assert sides[name].side.arena
        sides[name].side.arena.inputs[0][2] = 0.0
        assert of_cpu.verify(*sides.values()) == name


def test_without_eager_or_on_a_gpu_it_runs_for_every_call(of_cpu: Round, monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_cpu.verify(of_cpu.side("compile"), of_cpu.side("solution")) is None
    assert of_cpu.runs == CALLS
    monkeypatch.setattr(of_cpu.contest, "device", SimpleNamespace(kind="cuda"))
    assert of_cpu.verify(of_cpu.side("eager"), of_cpu.side("solution")) is None
    assert of_cpu.runs == CALLS


def test_a_reference_that_changes_its_inputs_runs_for_every_call(
    of_cpu: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_cpu.reference, "_changes_inputs", True)
    assert of_cpu.verify(of_cpu.side("eager"), of_cpu.side("solution")) is None
    assert of_cpu.runs == CALLS
