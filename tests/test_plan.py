"""From a configuration to pairs: names, sets, tags, workloads, overrides, shards, keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from kbench.errors import UsageFault
from kbench.sweep import config
from kbench.sweep.pair import Pair, key, matching, of_shard
from kbench.sweep.plan import Plan, Planner
from made import CPU, H200, TORCH, pair

PROBLEM = """
KBENCH = dict(workloads={"default": {}, "cpu": dict(n=2), "odd": {"n": 3}}, tags=["%s"]%s)
n = 4
class Model: ...
def get_inputs(): return []
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, tag, more in (
        ("fusion/add", "small", ""),
        ("fusion/conv", "big", ", baselines=('compile',)"),
        ("sort", "big", ""),
    ):
        path = tmp_path / "problems" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PROBLEM % (tag, more))
        for solution in ("naive", "fast_cuda"):
            target = tmp_path / "solutions" / name / f"{solution}.py"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(f"# {name} {solution}\nclass ModelNew: ...\n")
    return tmp_path


def planned(root: Path, text: str, kinds: Any = ("cpu",), **given: Any) -> Plan:
    path = root / "configs" / "sweep.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    wanted, document = config.read(path, given)
    planner = Planner(wanted, root, kinds)
    plan = planner.plan()
    document.mistakes += planner.mistakes
    document.demand_none()
    return plan


def names(plan: Plan | list[Pair]) -> list[str]:
    pairs = plan.pairs if isinstance(plan, Plan) else plan
    return [f"{one.solution_id}[{one.workload}]" for one in pairs]


def test_a_solution_of_another_problem_with_the_same_last_name_is_left_out(root: Path) -> None:
    twin = root / "problems" / "training" / "conv.py"
    twin.parent.mkdir()
    twin.write_text((root / "problems" / "fusion" / "conv.py").read_text())
    own = root / "solutions" / "training" / "conv" / "own.py"
    own.parent.mkdir(parents=True)
    own.write_text("class ModelNew: ...")
    (root / "solutions" / "fusion" / "conv_1.py").write_text("class ModelNew: ...")
    assert names(planned(root, "problems: [training/conv]\nworkload: cpu")) == ["training/conv/own[cpu]"]
    of_fusion = names(planned(root, "problems: [fusion/conv]\nworkload: cpu"))
    assert of_fusion == ["fusion/conv/fast_cuda[cpu]", "fusion/conv/naive[cpu]", "fusion/conv_1[cpu]"]


def test_everything_by_default_in_the_devices_own_workload(root: Path) -> None:
    plan = planned(root, "trials: 3")
    assert names(plan) == [
        "fusion/add/fast_cuda[cpu]",
        "fusion/add/naive[cpu]",
        "fusion/conv/fast_cuda[cpu]",
        "fusion/conv/naive[cpu]",
        "sort/fast_cuda[cpu]",
        "sort/naive[cpu]",
    ]
    assert {one.workload for one in planned(root, "trials: 3", ["cuda"]).pairs} == {"default"}
    assert len(planned(root, "trials: 3", ["cpu", "cuda"]).pairs) == 12


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("problems: fusion/*", 4),
        ("problems: [add, sort]", 4),
        ("problems: c*v", 2),
        ("tags: big", 4),
        ("tags: [big, small]", 6),
        ("solutions: '*_cuda'", 3),
        ("solutions: naive", 3),
        ("solutions: add/naive", 1),
        ("samples: 1", 3),
        ("workload: [cpu, odd]", 12),
        ("workload: all", 18),
        ("problems: ../problems/fusion/*.py", 4),
    ],
)
def test_choosing(root: Path, text: str, count: int) -> None:
    assert len(planned(root, text).pairs) == count


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("problems: [fusion/ad]", "1:12: no problem matches 'fusion/ad'; the nearest is 'fusion/add'"),
        ("tags: bgi", "1:7: no problem has the tag 'bgi'; the nearest is 'big'"),
        ("workload: odt", "1:11: no chosen problem has a workload 'odt'; the nearest is 'odd'"),
        ("solutions: nave", "1:12: no solution of these problems matches 'nave'"),
        ("overrides: {matmul: {trials: 2}}", "1:21: no chosen problem matches 'matmul'"),
        ("sets: {a: ../nowhere}", "1:11: set 'a' has no solution of these problems"),
    ],
)
def test_what_is_named_in_vain_is_said_at_its_place(root: Path, text: str, says: str) -> None:
    with pytest.raises(UsageFault) as caught:
        planned(root, text)
    assert says in caught.value.message


def test_on_the_command_line_there_is_no_place_to_name(root: Path) -> None:
    with pytest.raises(UsageFault, match=r"^no problem matches 'sotr'; the nearest is 'sort'"):
        planned(root, "trials: 1", problems=("sotr",))


def test_settings_of_the_file_then_of_overrides_then_of_whoever_calls(root: Path) -> None:
    text = "budget: 1\ntrials: 2\noverrides:\n  fusion/*: {budget: 3, workload: odd}\n  conv: {trials: 7}\n"
    found = {one.problem_id: one for one in planned(root, text, solutions=("naive",)).pairs}
    assert [found[name].settings.budget_s for name in ("fusion/add", "fusion/conv", "sort")] == [3, 3, 1]
    assert [found[name].settings.trials for name in ("fusion/add", "fusion/conv", "sort")] == [2, 7, 2]
    assert [found[name].workload for name in ("fusion/add", "sort")] == ["odd", "cpu"]
    assert {one.settings.budget_s for one in planned(root, text, budget=9.0).pairs} == {9.0}


def test_eager_always_runs_beside_and_a_problem_may_name_more(root: Path) -> None:
    found = {one.problem_id: one.settings.baselines for one in planned(root, "trials: 1").pairs}
    assert found["sort"] == ("eager",)
    assert found["fusion/conv"] == ("eager", "compile")
    assert {one.settings.baselines for one in planned(root, "baseline: compile").pairs} == {("eager", "compile")}


def test_sets_hold_samples_of_one_author_wherever_they_lie(root: Path) -> None:
    folder = root / "replies"
    for name in ("add_sample_2", "add_sample_10", "add_sample_1", "fusion/conv/x", "stray"):
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("```python\nclass ModelNew: ...\n```\n")
    plan = planned(root, "sets:\n  model: {folder: ../replies, samples: 2}\n  ours: ../solutions\n")
    model = [one for one in plan.pairs if one.set == "model"]
    assert [one.solution_id for one in model] == ["add_sample_1", "add_sample_2", "fusion/conv/x"]
    assert [one.problem_id for one in model] == ["fusion/add", "fusion/add", "fusion/conv"]
    assert len([one for one in plan.pairs if one.set == "ours"]) == 6
    assert [Path(path).name for path in plan.strays] == ["stray.md"]


def test_solutions_of_problems_that_are_not_chosen_are_no_strays(root: Path) -> None:
    plan = planned(root, "problems: fusion/add")
    assert plan.pairs and not plan.strays


def test_a_problem_that_cannot_be_read_leaves_the_others(root: Path) -> None:
    (root / "problems" / "bad.py").write_text("def (")
    (root / "problems" / "hidden.py").write_text("KBENCH = make()\n")
    plan = planned(root, "trials: 1")
    assert len(plan.pairs) == 6
    assert [name for name, _ in plan.faults] == ["bad", "hidden"]


def test_shards_are_disjoint_complete_and_stay_when_others_come(root: Path) -> None:
    pairs = list(planned(root, "workload: all").pairs)
    parts = [of_shard(pairs, number, 4) for number in (1, 2, 3, 4)]
    assert sorted(one.name for part in parts for one in part) == sorted(one.name for one in pairs)
    fewer = of_shard(pairs[::2], 2, 4)
    assert {one.name for one in fewer} == {one.name for one in pairs[::2]} & {one.name for one in parts[1]}
    changed = [msgspec.structs.replace(one, solution_sha256="other") for one in pairs]
    assert [one.name for one in of_shard(changed, 3, 4)] == [one.name for one in parts[2]]


def test_a_pattern_is_part_of_the_name_or_a_glob(root: Path) -> None:
    pairs = planned(root, "workload: [cpu, odd]").pairs
    assert len(matching(pairs, "CONV")) == 4
    assert len(matching(pairs, "add*odd*naive")) == 1
    assert matching(pairs, "nothing") == []


def test_a_key_changes_with_what_changes_numbers_and_with_nothing_else() -> None:
    base = pair()
    own = key(base, H200, TORCH)
    same = [
        (base, msgspec.structs.replace(H200, index=3, uuid="GPU-1"), TORCH),
        (base, H200, msgspec.structs.replace(TORCH, platform="Linux-6.9")),
        (pair(require_jail=True), H200, TORCH),
        (msgspec.structs.replace(base, problem="/elsewhere/p.py"), H200, TORCH),
    ]
    assert {key(*one) for one in same} == {own}
    other = [
        (pair(solution="t"), H200, TORCH),
        (pair(workload="odd"), H200, TORCH),
        (pair(budget_s=1.0), H200, TORCH),
        (pair(atol=1e-3), H200, TORCH),
        (msgspec.structs.replace(base, problem_sha256="x"), H200, TORCH),
        (msgspec.structs.replace(base, solution_sha256="x"), H200, TORCH),
        (msgspec.structs.replace(base, set="model"), H200, TORCH),
        (base, CPU, TORCH),
        (base, H200, msgspec.structs.replace(TORCH, torch="2.12")),
    ]
    assert len({own, *(key(*one) for one in other)}) == len(other) + 1


def test_a_solution_that_cannot_be_read_leaves_the_others(root: Path) -> None:
    (root / "solutions" / "sort" / "gone.py").symlink_to(root / "nowhere.py")
    plan = planned(root, "trials: 1")
    assert len(plan.pairs) == 6
    assert [name for name, _ in plan.faults] == ["sort/gone"]


def test_the_same_name_twice(root: Path) -> None:
    (root / "solutions" / "sort" / "naive.md").write_text("```python\nclass ModelNew: ...\n```\n")
    assert "sort/naive.md[cpu]" in names(planned(root, "problems: sort")) or "sort/naive.py[cpu]" in names(
        planned(root, "problems: sort")
    )
    for folder in ("a", "b"):
        (root / folder).mkdir()
        (root / folder / "twin.py").write_text(PROBLEM % ("small", ""))
    with pytest.raises(UsageFault, match="two problems are called 'twin'"):
        planned(root, f"problems: [{root}/a/*.py, {root}/b/*.py]")


def test_equal_settings_have_equal_keys_however_they_are_written(root: Path) -> None:
    texts = ("budget: 2\natol: 1e-3", "budget: 2.0\natol: 0.001")
    keys = [{key(one, CPU, TORCH) for one in planned(root, text).pairs} for text in texts]
    assert keys[0] == keys[1]
    ways = ("baseline: [eager, compile]", "baseline: [compile, eager]", "baseline: compile")
    assert len({frozenset(key(one, CPU, TORCH) for one in planned(root, text).pairs) for text in ways}) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("problems: 'a**b.py'", "no problem matches 'a**b.py'"),
        ("sets: {a: '~nosuchuser/x'}", "set 'a' has no folder"),
        ('sets: {a: "a\\0b"}', "set 'a' has no folder"),
        ("overrides: {sort: {workload: odt}}", "1:30: no problem of this override has a workload 'odt'"),
    ],
)
def test_odd_texts_are_mistakes_and_no_bugs(root: Path, text: str, says: str) -> None:
    with pytest.raises(UsageFault) as caught:
        planned(root, text)
    assert says in caught.value.message


def test_a_name_that_is_no_text_leaves_the_others(root: Path) -> None:
    (root / "solutions" / "sort" / "bad\udcff.py").write_text("")
    plan = planned(root, "trials: 1")
    assert len(plan.pairs) == 6 and len(plan.faults) == 1


def test_a_name_as_it_is_printed_is_a_pattern(root: Path) -> None:
    pairs = planned(root, "workload: [cpu, odd]").pairs
    assert matching(pairs, pairs[3].name) == [pairs[3]]
    assert len(matching(pairs, "[cpu]")) == 6
