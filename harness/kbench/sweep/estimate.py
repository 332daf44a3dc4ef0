"""How long what is left will take. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from kbench.records import Result
from kbench.sweep.pair import Kind, Pair

BESIDE_S = 1.0  # checking, and what else is not timed, of a pair that nobody has run yet


class Pace:
    """What pairs took so far: those of the same case say most, then all, then the budget."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._cases: dict[tuple[str, str, str], list[float]] = {}
        for result in results:
            self.note(result)

    def note(self, result: Result) -> None:
        if result.run and result.run.held_s is not None:
            case = (result.device.kind, result.problem.id, result.problem.workload)
            self._cases.setdefault(case, []).append(result.run.held_s)

    def seconds(self, pair: Pair) -> float:
        own = self._cases.get(pair.case)
        alike = own or [value for case, values in self._cases.items() if case[0] == pair.device for value in values]
        return fmean(alike) if alike else pair.settings.budget_s + BESIDE_S

    def left(self, todo: Sequence[Pair], lanes: Mapping[Kind, int]) -> float:
        """`lanes` says how many devices of each kind share the work."""
        totals: dict[Kind, float] = {}
        for pair in todo:
            totals[pair.device] = totals.get(pair.device, 0.0) + self.seconds(pair)
        return max((total / max(1, lanes.get(kind, 1)) for kind, total in totals.items()), default=0.0)
