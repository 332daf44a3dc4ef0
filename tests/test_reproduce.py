from __future__ import annotations

import shlex

import click
from kbench.cli import eval as command
from kbench.records import TIMED_CALL, Check, Mismatch, Settings
from kbench.report import reproduce
from kbench.report.reproduce import USUAL
from made import result
from msgspec import structs


def test_the_command_is_one_that_eval_takes() -> None:
    settings = Settings(
        trials=3, budget_s=0.5, baselines=("eager", "compile"), atol=1e-3, timeouts={"call": 60.0}, require_jail=True
    )
    line = reproduce.command(structs.replace(result(), settings=settings))
    words = shlex.split(line)
    assert words[:4] == ["kbench", "eval", "fusion/add", "a"]
    context = command.command.make_context("eval", words[2:])
    assert isinstance(context, click.Context)
    assert context.params["trials"] == 3 and context.params["budget_s"] == 0.5
    assert context.params["baselines"] == ("eager", "compile")
    assert context.params["timeouts"] == {"call": 60.0}
    assert context.params["require_jail"] is True


def test_what_is_usual_is_not_said() -> None:
    line = reproduce.command(structs.replace(result(), settings=USUAL))
    assert line == "kbench eval fusion/add a --device cuda --workload default"


def test_what_failed_runs_under_its_own_seeds() -> None:
    wrong = structs.replace(result(verdict="wrong"), seeds=(11, 22))
    assert reproduce.command(wrong).endswith("--seed 11")
    check = Check(1, 1, 1, None, None, None, None, mismatch=Mismatch("output", TIMED_CALL, "off"))
    assert reproduce.command(structs.replace(wrong, check=check)).endswith("--seed 22")
