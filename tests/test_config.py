"""Configurations: what they say, and every mistake at its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kbench.errors import UsageFault
from kbench.sweep import config
from kbench.sweep.config import MATRIX, Config


def read(tmp_path: Path, text: str, **given: Any) -> Config:
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    return config.read(path, given)[0]


def mistakes(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(UsageFault) as caught:
        read(tmp_path, text)
    return [line.removeprefix(f"{tmp_path}/sweep.yaml:") for line in caught.value.message.splitlines()]


def test_all_that_can_be_said(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
name: big
problems: [fusion/*, matmul]
tags: [conv]
solutions: "*_cuda"
sets:
  mine: ../mine
  model: {folder: ../model, samples: 4}
workload: all
device: [cpu, "cuda:1"]
baseline: [eager, compile]
trials: 3
budget: 1e-1
atol: .5
timeout: {call: 60, total: 1e2}
samples: 8
retries: 2
require-jail: true
overrides:
  "training/*": {budget: 2, workload: odd}
""",
    )
    assert found.name == "big"
    assert [one.text for one in found.problems] == ["fusion/*", "matmul"]
    assert [(one.name, one.folder, one.samples) for one in found.sets] == [
        ("mine", "../mine", None),
        ("model", "../model", 4),
    ]
    assert found.devices == ("cpu", "cuda:1")
    assert found.settings == {
        "baseline": ("eager", "compile"),
        "trials": 3,
        "budget": 0.1,
        "atol": 0.5,
        "timeout": {"call": 60.0, "total": 100.0},
        "require-jail": True,
    }
    assert (found.samples, found.retries) == (8, 2)
    assert found.overrides[0].settings["budget"] == 2.0


def test_the_name_is_the_files_and_options_are_above_it(tmp_path: Path) -> None:
    found = read(tmp_path, "budget: 1\nproblems: a\nretries: 3", problems=("b",), budget=5.0, device=("cpu",))
    assert found.name == "sweep"
    assert [one.text for one in found.problems] == ["b"]
    assert found.devices == ("cpu",)
    assert found.given == {"budget": 5.0}
    assert found.retries == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("budgte: 1", "1:1: unknown key 'budgte'; the nearest is 'budget'"),
        ("trials: 3\ntrials: 4", "2:1: 'trials' is given twice; the first is at line 1"),
        ("on: 3", "1:1: unknown key 'on'"),
        ("require-jail: on", "1:15: 'on' is neither true nor false"),
        ("budget: '2'", "1:9: budget is quoted"),
        ("budget: 1e-3x", "1:9: '1e-3x' is no number"),
        ("trials: 010.5", "1:9: '010.5' is no whole number"),
        ("baseline: [eager, compil]", "1:19: 'compil' is not known; the nearest is 'compile'"),
        ("timeout: {cal: 1}", "1:11: unknown key 'cal'; the nearest is 'call'"),
        ("timeout: {call: 0}", "1:17: must be more than 0, not 0"),
        ("device: gpu", "1:9: unknown device 'gpu'"),
        ("problems: {a: 1}", "1:11: one value is expected here, not keys with values"),
        ("problems: [[a]]", "1:12: one value is expected here, not a list"),
        ("sets: [a]", "1:7: keys with values are expected here, not a list"),
        ("sets: {a: {samples: 2}}", "1:11: set 'a' names no folder"),
        ("overrides: {'*': {device: cpu}}", "1:19: unknown key 'device'"),
        ("budget:", "1:8: one value is expected here, not nothing"),
        ("- a", "1:1: keys with values are expected here, not a list"),
        ("", "1:1: the file says nothing"),
        ("a: [1", "no YAML"),
        ("a: 1\n\tb: 2", "no YAML"),
        ("<<: {a: 1}", "1:1: unknown key '<<'"),
        ("? [a]\n: 1", "1:3: unknown key 'a list'"),
        ("a: !!python/object:os.system {}", "1:1: unknown key 'a'"),
    ],
)
def test_a_mistake_has_its_place(tmp_path: Path, text: str, says: str) -> None:
    assert says in mistakes(tmp_path, text)[0]


def test_all_mistakes_come_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "budget: -1\nbudgte: 1\ntimeout:\n  load: soon\nsamples: 0\n")
    assert [line.split(": ")[0] for line in found] == ["1:9", "2:1", "4:9", "5:10"]


def test_aliases_cannot_blow_up_or_turn_in_circles(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
    )
    assert mistakes(tmp_path, bomb)
    assert mistakes(tmp_path, "problems: &p [*p]")


def test_a_file_that_is_none(tmp_path: Path) -> None:
    for path, says in ((tmp_path / "none.yaml", "cannot read"), (tmp_path, "cannot read")):
        with pytest.raises(UsageFault, match=says):
            config.read(path, {})
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageFault, match="not text"):
        config.read(tmp_path / "binary.yaml", {})


def test_every_key_has_one_name_everywhere() -> None:
    names = [option.name for option in (*MATRIX, *config.OPTIONS)]
    assert len(set(names)) == len(names)
    assert not set(names) & set(config.ELSEWHERE)


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", ".", "..", '"a\\nb"', '"a b"', '"a\\0b"', "a/b"])
def test_a_run_stays_below_results(tmp_path: Path, name: str) -> None:
    assert "no name of a folder" in mistakes(tmp_path, f"name: {name}\n")[0]
    with pytest.raises(UsageFault, match="--name"):
        read(tmp_path, "trials: 1", name="../x")


def test_a_file_that_is_nested_without_end(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="nested too deeply"):
        read(tmp_path, "a: " + "[" * 5000)
