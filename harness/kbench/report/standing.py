"""Which results count, and who stands where: the newest of each pair, groups that can be compared, ranks. Pure."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from kbench import units
from kbench.records import DeviceInfo, Environment, Record, Result, Speedup, Verdict, comparable
from kbench.settings import EAGER
from kbench.stats import log_distance

Case = tuple[str, str]  # problem and workload
STRICT = Speedup(1.0, (1.0, 1.0))  # what a failure counts as: the baseline runs instead


class Standing(Record, frozen=True):
    """One solution in one case."""

    problem: str
    workload: str
    set: str | None
    solution: str
    verdict: Verdict
    reason: str | None
    median_ms: float | None
    ci95_ms: tuple[float, float] | None
    baseline_ms: float | None
    speedup: Speedup | None  # only of what passed
    attestation: str | None
    key: str | None
    finished: str | None
    rank: int | None = None

    @property
    def case(self) -> Case:
        return self.problem, self.workload

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"


class Group(Record, frozen=True):
    """Results of one kind of device in one environment, or of several where that was asked for."""

    devices: tuple[DeviceInfo, ...]
    environments: tuple[Environment, ...]
    baseline: str
    standings: tuple[Standing, ...]  # by problem, workload and rank
    notes: tuple[str, ...] = ()


def groups(results: Iterable[Result], baseline: str, mix: bool = False) -> list[Group]:
    """The results that can be compared with each other, the same whatever order they come in."""
    chosen, notes = counting(results)
    found: dict[bytes, list[Result]] = {}
    for result in chosen:
        found.setdefault(b"" if mix else _likeness(result), []).append(result)
    made = [_group(members, baseline, notes) for members in found.values()]
    return sorted(made, key=lambda group: (-len(group.standings), repr(group.devices), repr(group.environments)))


def baselines(results: Iterable[Result]) -> list[str]:
    """What speedups are known over, eager first."""
    return sorted({EAGER}.union(*(result.speedup for result in results)), key=lambda name: (name != EAGER, name))


def ranked(standings: Iterable[Standing]) -> list[Standing]:
    """Each with its place among those of its case: one more than the number of those that are surely faster."""
    by_case: dict[Case, list[Standing]] = {}
    for one in standings:
        by_case.setdefault(one.case, []).append(one)
    return sorted((_placed(one, others) for others in by_case.values() for one in others), key=_order)


def place(own: Speedup, others: Iterable[Speedup]) -> int:
    return 1 + sum(other.ci95[0] > own.ci95[1] for other in others)


def geometric_mean(speedups: Sequence[Speedup]) -> Speedup | None:
    """With an interval from those of its parts, each side in quadrature on the scale of ratios."""
    if not speedups or any(one.value <= 0 for one in speedups):
        return None
    count = len(speedups)
    center = math.exp(sum(math.log(one.value) for one in speedups) / count)
    below = math.hypot(*(log_distance(one.ci95[0], one.value) for one in speedups)) / count
    above = math.hypot(*(log_distance(one.value, one.ci95[1]) for one in speedups)) / count
    return Speedup(center, (center * math.exp(-below), center * math.exp(above)))


def best(standings: Iterable[Standing]) -> Standing | None:
    """The fastest that passed; among equals the one whose name comes first."""
    passed = [one for one in standings if one.passed]
    return min(passed, key=_order, default=None)


def counting(results: Iterable[Result]) -> tuple[list[Result], tuple[str, ...]]:
    """The newest result of each pair against the newest version of its problem; and what was left out."""
    listed = list(_by_age(results))
    seeded = [one for one in listed if one.seed is not None]
    free = [one for one in listed if one.seed is None]
    versions = {one.problem.id: one.problem.sha256 for one in free}  # the last one stays
    current = [one for one in free if one.problem.sha256 == versions[one.problem.id]]
    newest: dict[tuple[bytes, tuple[str | None, ...]], Result] = {}
    for one in current:
        name = _likeness(one), _name(one)
        newest.pop(name, None)  # so that the newest of all stands last
        newest[name] = one
    notes = []
    if seeded:
        notes.append(f"{units.plural(len(seeded), 'result')} made with --seed left out")
    if len(current) < len(free):
        notes.append(f"{units.plural(len(free) - len(current), 'result')} of older versions of a problem left out")
    return list(newest.values()), tuple(notes)


def _group(members: list[Result], baseline: str, notes: tuple[str, ...]) -> Group:
    devices, environments = {}, {}
    for one in members:
        device, environment = comparable(one.device, one.environment)
        devices[repr(device)], environments[repr(environment)] = device, environment
    return Group(
        devices=tuple(devices[key] for key in sorted(devices)),
        environments=tuple(environments[key] for key in sorted(environments)),
        baseline=baseline,
        standings=tuple(ranked(_standing(one, baseline) for one in members)),
        notes=notes,
    )


def _standing(result: Result, baseline: str) -> Standing:
    timing, against = result.timing, result.baselines.get(baseline)
    return Standing(
        problem=result.problem.id,
        workload=result.problem.workload,
        set=result.run.set if result.run else None,
        solution=result.solution.id,
        verdict=result.verdict,
        reason=result.reason,
        median_ms=timing.median_ms if timing and result.passed else None,
        ci95_ms=timing.ci95_ms if timing and result.passed else None,
        baseline_ms=against.median_ms if against else None,
        speedup=result.speedup.get(baseline) if result.passed else None,
        attestation=result.attestation.status if result.attestation else None,
        key=result.run.key if result.run else None,
        finished=result.run.finished if result.run else None,
    )


def _placed(one: Standing, others: list[Standing]) -> Standing:
    if one.speedup is None:
        return one
    rank = place(one.speedup, (other.speedup for other in others if other.speedup))
    return structs.replace(one, rank=rank)


def _order(one: Standing) -> tuple[object, ...]:
    """By case; there the ranked ones first, the fastest before others of its rank, then what has no rank."""
    speed = -one.speedup.value if one.speedup else 0.0
    unranked = one.rank is None
    return one.problem, one.workload, not one.passed, unranked, one.rank or 0, speed, one.set or "", one.solution


def _by_age(results: Iterable[Result]) -> Iterator[Result]:
    """Oldest first. Those without a date count as old, in an order that does not depend on where they stood."""
    for _, same in itertools.groupby(sorted(results, key=_date), key=_date):
        alike = list(same)
        yield from alike if len(alike) == 1 else sorted(alike, key=_digest)


def _date(result: Result) -> str:
    return result.run.finished if result.run else ""


def _digest(result: Result) -> str:
    return hashlib.sha256(result.to_json().encode()).hexdigest()


def _name(result: Result) -> tuple[str | None, ...]:
    return result.problem.id, result.problem.workload, result.run.set if result.run else None, result.solution.id


def _likeness(result: Result) -> bytes:
    return repr(comparable(result.device, result.environment)).encode()
