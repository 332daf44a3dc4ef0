"""What the rounds of one series took, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kbench.records import Telemetry
from kbench.referee.busy import Looks
from kbench.referee.side import Run
from kbench.referee.size import Size
from kbench.stats import median


@dataclass
class Rounds:
    """What one side did in the rounds that count."""

    walls_s: list[float] = field(default_factory=list)
    singles_s: list[float] = field(default_factory=list)
    claims_ms: list[tuple[float, ...]] = field(default_factory=list)


@dataclass
class Series:
    """One run of paired rounds in one set of workers."""

    sides: dict[str, Rounds]
    size: Size
    inputs: str
    null_batch_s: float = 0.0
    null_single_s: float = 0.0
    flush_s: float = 0.0  # how long one flush lasts
    stopped: str = ""
    spent_s: float = 0.0
    looks: Looks = field(default_factory=dict)
    telemetry: list[Telemetry] = field(default_factory=list)

    def add(self, runs: Mapping[str, Run]) -> None:
        """One round of each side."""
        for name, run in runs.items():
            self.sides[name].walls_s.append(run.walls_s[0])
            self.sides[name].claims_ms.append(run.finished.claims_ms)
            self.spent_s += run.walls_s[0]

    def batch_ms(self, name: str) -> list[float]:
        """Per round, the referee's clock less what a round without work costs, by the calls."""
        return [(wall - self.null_batch_s) / self.size.calls * 1e3 for wall in self.sides[name].walls_s]

    def singles_ms(self, name: str) -> list[float]:
        """The same of each call that was let go by itself; none on the CPU."""
        return [(wall - self.null_single_s) * 1e3 for wall in self.sides[name].singles_s]

    def claimed_ms(self, name: str) -> list[float]:
        return [median(claims) for claims in self.sides[name].claims_ms]
