"""Who stands where, whatever order results come in and however they were split."""

from __future__ import annotations

import random
from typing import Any

import pytest
from kbench.records import Result, Speedup
from kbench.report import summary
from kbench.report.standing import Group, best, geometric_mean, groups, place
from made import CPU, TORCH, result
from msgspec import structs

VERDICTS = ("wrong", "build_failed", "load_failed", "crashed", "timed_out", "out_of_memory", "cheated", "unsupported")


def drawn(seed: int) -> list[Result]:
    """A run of three sets over five problems, some of it failed."""
    draw = random.Random(seed)
    return [
        result(
            problem=f"family/p{problem}",
            workload=workload,
            solution=f"family/p{problem}/s{sample}",
            of_set=of_set,
            verdict=draw.choice(VERDICTS) if draw.random() < 0.3 else "passed",  # type: ignore[arg-type]
            speedup=round(draw.uniform(0.5, 3), 3),
            spread=round(draw.uniform(0.005, 0.1), 4),
            finished=f"2026-01-01T00:00:{number:02d}.000000Z",
        )
        for number, (problem, workload, of_set, sample) in enumerate(
            (p, w, s, n) for p in range(5) for w in ("default", "odd") for s in ("x", "y", None) for n in range(2)
        )
    ]


def tables(results: list[Result], **options: Any) -> object:
    return [(group, summary.sets(group, **options), summary.problems(group)) for group in groups(results, "eager")]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("strict", [False, True])
def test_the_order_of_rows_does_not_matter(seed: int, strict: bool) -> None:
    results = drawn(seed)
    shuffled = random.Random(seed).sample(results, len(results))
    assert tables(shuffled, strict=strict) == tables(results, strict=strict)


@pytest.mark.parametrize("seed", range(8))
def test_merged_shards_are_one_run(seed: int) -> None:
    results = drawn(seed)
    shards = [results[number::3] for number in range(3)]
    assert tables([one for shard in reversed(shards) for one in shard]) == tables(results)
    assert tables([*results, *shards[1]]) == tables(results)  # a shard that was merged twice


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("strict", [False, True])
def test_a_failure_never_raises_a_rank(seed: int, strict: bool) -> None:
    results, draw = drawn(seed), random.Random(seed)
    before = _ranks(results, strict)
    for _ in range(12):
        number = draw.randrange(len(results))
        old = results[number]
        failed = structs.replace(
            old, verdict=draw.choice(VERDICTS), reason="no", timing=None, speedup={}, baselines={}, attestation=None
        )
        after = _ranks([*results[:number], failed, *results[number + 1 :]], strict)
        own_set = (old.run.set if old.run else None) or summary.UNNAMED
        assert after[0][own_set] >= before[0][own_set]
        mine = (old.problem.id, old.problem.workload, own_set, old.solution.id)
        assert after[1][mine] is None


def _ranks(results: list[Result], strict: bool) -> tuple[dict[str, int], dict[Any, int | None]]:
    (group,) = groups(results, "eager")
    rows = {(one.problem, one.workload, one.set or summary.UNNAMED, one.solution): one.rank for one in group.standings}
    return {one.name: one.rank for one in summary.sets(group, strict)}, rows


def test_who_cannot_be_told_apart_shares_a_rank() -> None:
    results = [
        result(solution=name, speedup=value, spread=0.05)
        for name, value in zip("abcd", (2, 1.95, 1.5, 0.5), strict=True)
    ]
    (group,) = groups(results, "eager")
    assert [(one.solution, one.rank) for one in group.standings] == [("a", 1), ("b", 1), ("c", 3), ("d", 4)]
    assert place(Speedup(1, (0.9, 1.1)), []) == 1


def test_the_newest_result_counts_against_the_newest_problem() -> None:
    old = result(solution="a", verdict="wrong", finished="2026-01-01T00:00:00.000000Z")
    new = result(solution="a", finished="2026-01-02T00:00:00.000000Z")
    (group,) = groups([new, old], "eager")
    assert [one.verdict for one in group.standings] == ["passed"]
    changed = result(solution="b", sha="p2", finished="2026-01-03T00:00:00.000000Z")
    (group,) = groups([changed, new, old], "eager")
    assert [one.solution for one in group.standings] == ["b"]
    assert group.notes == ("2 results of older versions of a problem left out",)


def test_a_result_under_known_seeds_is_kept_off() -> None:
    (group,) = groups([result(solution="a"), result(solution="b", seed=1)], "eager")
    assert [one.solution for one in group.standings] == ["a"]
    assert group.notes == ("1 result made with --seed left out",)


def test_devices_and_environments_are_not_mixed_unless_asked() -> None:
    results = [
        result(solution="a"),
        result(solution="a", device=CPU),
        result(solution="a", environment=structs.replace(TORCH, torch="2.12")),
        result(solution="b", environment=structs.replace(TORCH, platform="another kernel")),
        result(solution="c", device=structs.replace(result().device, index=5, uuid="GPU-5")),
    ]
    assert sorted(len(group.standings) for group in groups(results, "eager")) == [1, 1, 3]
    (mixed,) = groups(results, "eager", mix=True)
    assert len(mixed.standings) == 5 and len(mixed.devices) == 2 and len(mixed.environments) == 2


def test_the_mean_is_geometric_and_its_interval_shrinks_with_more() -> None:
    two = geometric_mean([Speedup(2.0, (1.8, 2.2)), Speedup(0.5, (0.45, 0.55))])
    assert two and two.value == pytest.approx(1.0) and two.ci95[0] < 1 < two.ci95[1]
    many = geometric_mean([Speedup(2.0, (1.8, 2.2))] * 16)
    assert many and (2.0 - many.ci95[0]) == pytest.approx((2.0 - 1.8) / 4, rel=0.1)
    assert geometric_mean([]) is None
    wild = geometric_mean([Speedup(1.0, (-0.5, 3.0))])
    assert wild and wild.ci95[0] == 0.0


def test_strict_counts_failures_and_what_is_missing_as_1x() -> None:
    results = [
        result("p1", "a", speedup=4.0, of_set="x"),
        result("p2", "a", verdict="wrong", of_set="x"),
        result("p1", "b", speedup=4.0, of_set="y"),
    ]
    (group,) = groups(results, "eager")
    loose = {one.name: one for one in summary.sets(group)}
    strict = {one.name: one for one in summary.sets(group, strict=True)}
    assert loose["x"].geomean and loose["x"].geomean.value == pytest.approx(4.0)
    assert strict["x"].geomean and strict["x"].geomean.value == pytest.approx(2.0)
    assert strict["y"].geomean and strict["y"].geomean.value == pytest.approx(2.0)
    assert (strict["y"].passed, strict["y"].cases, loose["y"].cases) == (1, 2, 1)


def test_a_set_has_its_best_sample_and_fast_needs_the_whole_interval() -> None:
    results = [
        result("p1", "s0", speedup=0.9, of_set="x"),
        result("p1", "s1", speedup=1.6, spread=0.05, of_set="x"),
        result("p1", "s2", verdict="crashed", of_set="x"),
        result("p2", "s0", speedup=1.01, spread=0.05, of_set="x"),
    ]
    (group,) = groups(results, "eager")
    (one,) = summary.sets(group, fast=(1.0, 1.5, 2.0))
    assert (one.passed, one.cases, one.results) == (2, 2, 4)
    assert one.fast == {1.0: 1, 1.5: 1, 2.0: 0}
    assert one.verdicts == {"crashed": 1}
    assert best(group.standings[:3]).solution == "s1"  # type: ignore[union-attr]


def test_correct_goes_before_fast() -> None:
    results = [
        result("p1", "a", speedup=1.0, of_set="careful"),
        result("p2", "a", speedup=1.0, of_set="careful"),
        result("p1", "b", speedup=9.0, of_set="daring"),
        result("p2", "b", verdict="wrong", of_set="daring"),
    ]
    (group,) = groups(results, "eager")
    assert [(one.name, one.rank) for one in summary.sets(group)] == [("careful", 1), ("daring", 2)]


def test_a_solution_over_its_workloads() -> None:
    results = [result("p", "p/a", workload=name, speedup=2.0) for name in ("default", "odd")]
    results.append(result("p", "p/b", workload="odd"))
    (group,) = groups(results, "eager")
    lines = {one.name: one for one in summary.solutions(group, strict=True)}
    assert (lines["p/a"].passed, lines["p/b"].passed, lines["p/b"].cases) == (2, 1, 2)


def test_against_a_baseline_that_some_do_not_have() -> None:
    (group,) = groups([result(solution="a")], "compile")
    assert isinstance(group, Group)
    assert [(one.rank, one.speedup) for one in group.standings] == [(None, None)]
