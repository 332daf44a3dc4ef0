"""What a group of results says of each set, each problem and each solution. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec import structs

from kbench.records import Record, Speedup
from kbench.report.standing import STRICT, Case, Group, Standing, best, geometric_mean

FAST = (1.0, 1.5, 2.0)
UNNAMED = "solutions"


Key = TypeVar("Key")


class Summary(Record, frozen=True):
    """One line of a table: a set, or a solution over its workloads."""

    name: str
    cases: int  # that it has a result for, or with `strict` all there are
    passed: int  # cases with at least one solution that passed
    results: int
    verdicts: dict[str, int]  # of what did not pass, samples counted each
    fast: dict[float, int]  # cases surely faster than p times the baseline
    geomean: Speedup | None
    rank: int = 0


class Best(Record, frozen=True):
    """One problem in one workload."""

    problem: str
    workload: str
    results: int
    passed: int
    best: Standing | None


def sets(group: Group, strict: bool = False, fast: tuple[float, ...] = FAST) -> list[Summary]:
    """One line a named set of solutions, the best first."""
    every = {one.case for one in group.standings} if strict else set()
    return _summaries(group, lambda one: one.set or UNNAMED, lambda _: every, fast)


def solutions(group: Group, strict: bool = False, fast: tuple[float, ...] = FAST) -> list[Summary]:
    """One line a solution, over the workloads of its problem."""
    cases = (
        {
            one.problem: {other.case for other in group.standings if other.problem == one.problem}
            for one in group.standings
        }
        if strict
        else {}
    )
    return _summaries(group, _full_name, lambda one: cases.get(one.problem, set()), fast)


def problems(group: Group) -> list[Best]:
    """The best solution of each problem in each workload."""
    return [
        Best(
            problem=case[0],
            workload=case[1],
            results=len(members),
            passed=sum(one.passed for one in members),
            best=best(members),
        )
        for case, members in sorted(_by(group.standings, lambda one: one.case).items())
    ]


def _full_name(one: Standing) -> str:
    return f"{one.set}: {one.solution}" if one.set else one.solution


def _summaries(
    group: Group, name: Callable[[Standing], str], due: Callable[[Standing], set[Case]], fast: tuple[float, ...]
) -> list[Summary]:
    members = _by(group.standings, name)
    lines = [_summary(label, own, due(own[0]), fast) for label, own in members.items()]
    return sorted((_with_rank(one, lines) for one in lines), key=_order)


def _summary(name: str, own: list[Standing], due: set[Case], fast: tuple[float, ...]) -> Summary:
    """`due` are cases that count as failed without a result; where there are some, failures count as 1x."""
    cases = _by(own, lambda one: one.case)
    chosen = [best(members) for members in cases.values()]
    passed = [one for one in chosen if one]
    speedups = [one.speedup for one in passed if one.speedup]
    total = len(due | set(cases)) if due else len(cases)
    as_failed = [STRICT] * (total - len(passed)) if due else []
    return Summary(
        name=name,
        cases=total,
        passed=len(passed),
        results=len(own),
        verdicts=dict(sorted(Counter(one.verdict for one in own if not one.passed).items())),
        fast={p: sum(one.ci95[0] > p for one in speedups) for p in fast},
        geomean=geometric_mean([*speedups, *as_failed]),
    )


def _with_rank(one: Summary, others: list[Summary]) -> Summary:
    """One more than the number of those that are better: more cases passed, or as many and surely faster.

    Correct first: otherwise failing where one is slow would raise the mean, and with it the rank.
    """
    better = sum(_is_better(other, one) for other in others)
    return structs.replace(one, rank=1 + better)


def _is_better(left: Summary, right: Summary) -> bool:
    if left.passed != right.passed:
        return left.passed > right.passed
    if left.geomean is None or right.geomean is None:
        return left.geomean is not None
    return left.geomean.ci95[0] > right.geomean.ci95[1]


def _order(one: Summary) -> tuple[object, ...]:
    return one.rank, -(one.geomean.value if one.geomean else 0.0), one.name


def _by(standings: Iterable[Standing], key: Callable[[Standing], Key]) -> dict[Key, list[Standing]]:
    found: dict[Key, list[Standing]] = {}
    for one in standings:
        found.setdefault(key(one), []).append(one)
    return found
