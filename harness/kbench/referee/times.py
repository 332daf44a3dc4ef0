"""What series of rounds say: how long a call takes, how sure that is, how much faster than a baseline. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from kbench.records import Attestation, BaselineTiming, Speedup, Timing
from kbench.referee import attest
from kbench.referee.series import Series
from kbench.referee.side import SOLUTION
from kbench.stats import PROCESS_TERM, bootstrap, median, paired_speedup, process_spread

LEAST_MS = 1e-3  # below a microsecond a round says nothing about a call


@dataclass
class Times:
    """All series of one evaluation. Methods take `waits`: whether a trace showed that a call waits for its host."""

    kind: str  # of the device
    series: list[Series] = field(default_factory=list)

    def attested(self, series: Series, name: str) -> Attestation:
        """What a side claims beside what the referee saw."""
        batches = series.batch_ms(name)
        if self.kind == "cpu":
            return Attestation(status="attested", method="referee-clock", batch_ms=max(median(batches), 0.0))
        hidden = series.flush_s * 1e3
        # The median of rounds, as it is reported: over all calls a few rounds of lies would not show.
        return attest.attest(median(series.claimed_ms(name)), batches, series.singles_ms(name), hidden)

    def rounds(self, name: str) -> list[float]:
        """One time a round, of all series."""
        return [value for series in self.series for value in self._figures(series, name)]

    def seen_ms(self) -> float:
        """What a call of the solution took by the referee's clock, in the last series."""
        return median(self.series[-1].batch_ms(SOLUTION))

    def timing(self, flush_bytes: int, waits: bool) -> Timing:
        """Of the solution."""
        last = self.series[-1]
        estimate = bootstrap(self.rounds(SOLUTION))
        flushed = f"flushed, {flush_bytes >> 20} MB written before each call"
        return Timing(
            median_ms=estimate.value,
            ci95_ms=(estimate.low, estimate.high),
            samples_ms=self._samples(SOLUTION),
            rounds=sum(len(series.sides[SOLUTION].walls_s) for series in self.series),
            calls_per_round=last.size.calls,
            slots=last.size.slots,
            stopped=last.stopped,  # type: ignore[arg-type]
            cache=flushed if self.kind == "cuda" else "rotated",
            inputs=last.inputs,
            processes=len(self.series),
            process_term=self._process_term(waits),
            telemetry=tuple(sample for series in self.series for sample in series.telemetry),
        )

    def baselines(self) -> dict[str, BaselineTiming]:
        return {name: self._baseline(name) for name in self._baseline_names()}

    def speedups(self, waits: bool) -> dict[str, Speedup]:
        """Against each baseline."""
        return {name: self._speedup(name, waits) for name in self._baseline_names()}

    def _figures(self, series: Series, name: str) -> list[float]:
        """One time a round: by the referee's clock on the CPU, by claims that it bounds on a GPU."""
        if self.kind == "cpu":
            return [max(value, LEAST_MS) for value in series.batch_ms(name)]
        found = self.attested(series, name)
        return [max(attest.trusted_ms(claimed, found), LEAST_MS) for claimed in series.claimed_ms(name)]

    def _samples(self, name: str) -> tuple[tuple[float, ...], ...]:
        if self.kind == "cpu":
            return tuple((value,) for value in self.rounds(name))
        return tuple(claims for series in self.series for claims in series.sides[name].claims_ms)

    def _process_term(self, waits: bool) -> float:
        """Measured with several processes, else what is usual for the device."""
        medians = [median(self._figures(series, SOLUTION)) for series in self.series]
        spread = process_spread(medians)
        if spread is not None:
            return spread / math.sqrt(len(medians))
        return PROCESS_TERM["host" if waits else self.kind]

    def _baseline_names(self) -> list[str]:
        return [name for name in self.series[-1].sides if name != SOLUTION]

    def _baseline(self, name: str) -> BaselineTiming:
        estimate = bootstrap(self.rounds(name))
        return BaselineTiming(
            median_ms=estimate.value, ci95_ms=(estimate.low, estimate.high), samples_ms=self._samples(name)
        )

    def _speedup(self, name: str, waits: bool) -> Speedup:
        # Solution and baseline are two processes, so their ratio carries what differs between processes.
        term = self._process_term(waits)
        # That it waits for its host is the worker's word: a wider interval must not share a rank with faster ones.
        above = PROCESS_TERM[self.kind] if term == PROCESS_TERM["host"] else term
        estimate = paired_speedup(self.rounds(name), self.rounds(SOLUTION)).widened(term, above)
        return Speedup(value=estimate.value, ci95=(estimate.low, estimate.high))
