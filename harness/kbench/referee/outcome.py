"""Gathers what an evaluation finds and makes the Result of it."""

from __future__ import annotations

import math
import platform

import torch
from msgspec import structs

import kbench
from kbench import solution as kbench_solution
from kbench import units
from kbench.build import toolchain
from kbench.device.interface import Device
from kbench.device.telemetry import Probe
from kbench.problem import Source
from kbench.protocol import Traced
from kbench.records import (
    Attestation,
    BaselineTiming,
    Check,
    Environment,
    Evidence,
    Floor,
    Mismatch,
    ProblemRef,
    Result,
    Settings,
    SolutionRef,
    Speedup,
    Timing,
    Warn,
)
from kbench.referee import attest, evidence, floor
from kbench.referee.builds import Builds
from kbench.referee.check import Findings
from kbench.referee.ruling import Ruling
from kbench.referee.series import Series
from kbench.referee.side import SOLUTION
from kbench.referee.size import Size
from kbench.referee.staff import Staff
from kbench.report import warn
from kbench.stats import PROCESS_TERM, Estimate, bootstrap, median, paired_speedup, process_spread

MAX_LOG = 64 * 1024
MAX_REASON = 2000
LEAST_MS = 1e-3  # below a microsecond a round says nothing about a call


class Draft:
    """A result in the making."""

    def __init__(
        self,
        device: Device,
        staff: Staff,
        source: Source,
        workload: str,
        candidate: kbench_solution.Source,
        builds: Builds,
        asked: Settings,
    ) -> None:
        self.device = device
        self.staff = staff
        self.source = source
        self.workload = workload
        self.candidate = candidate
        self.seeds: tuple[int, ...] = ()
        self.builds = builds
        self.asked = asked
        self.custom_kernel: bool | float = False
        self.findings = Findings()
        self.size = Size(0, 0)
        self.weights: str | None = None
        self.changed: tuple[str, ...] = ()
        self.calls = 0
        self.instances = 0
        self.series: list[Series] = []
        self.disturbed = 0  # series that were given up because the GPU was busy
        self.attestation: Attestation | None = None
        self.evidence: Evidence | None = None
        self.floor: Floor | None = None
        self.not_kept: str | None = None
        self.foreign: list[int] = []
        self.log = ""
        self.seconds: dict[str, float] = {}

    def contradicted(self, series: Series) -> bool:
        self.attestation = self._attest(series, SOLUTION)
        return self.attestation.status == "contradicted"

    def timed(self, series: Series, probe: Probe) -> None:
        self.series.append(series)
        self.foreign = probe.foreign()

    def traced(self, traced: Traced) -> None:
        self.evidence = evidence.weigh(traced, self.builds.summary(), self.device.kind)

    def call_ms(self) -> float:
        """What a call took by the referee's clock, in the last series."""
        return median(self.series[-1].batch_ms(SOLUTION))

    def passed(self) -> Ruling:
        if self.attestation and self.attestation.status == "contradicted":
            claimed, batch, single = (
                units.duration(value or 0.0)
                for value in (self.attestation.claimed_ms, self.attestation.batch_ms, self.attestation.single_ms)
            )
            seen = f"the referee's clock saw {batch} in batches and {single} singly, in two series"
            return Ruling("cheated", f"it claims {claimed} a call; {seen}")
        impossible = floor.judge(self.floor, median(self._rounds(SOLUTION)), self.device.kind)
        if impossible:
            return impossible
        # On the CPU times of single functions say nothing about what a call takes with all of its threads. On a GPU
        # the time that counts: who claims more to excuse a longer traced call is slower by as much.
        timed_ms = median(self._rounds(SOLUTION)) if self.device.kind == "cuda" else None
        off = evidence.policy(self.evidence, self.custom_kernel, timed_ms)
        return off or Ruling("passed", "correct in every call")

    def result(self, ruling: Ruling) -> Result:
        timing = self._timing() if self.series else None
        return Result(
            verdict=ruling.verdict,
            reason=None if ruling.verdict == "passed" else ruling.reason[:MAX_REASON],
            problem=ProblemRef(id=self.source.id, sha256=self.source.sha256, workload=self.workload),
            solution=self._solution(),
            device=self.device.info(),
            environment=environment(),
            seed=self.asked.seed,
            seeds=self.seeds,
            build=self.builds.summary(),
            check=self._check(ruling.mismatch) if self.findings.trials or ruling.mismatch else None,
            timing=timing,
            baselines=self._baselines() if self.series else {},
            speedup=self._speedups() if ruling.verdict == "passed" else {},
            attestation=self.attestation,
            evidence=self.evidence,
            floor=self.floor,
            jail=self.staff.jail(),
            warnings=self._warnings(timing),
            log=_joined(self.log, ruling.traceback),
            seconds=self.seconds,
            settings=structs.replace(self.asked, keep=None),
        )

    def _solution(self) -> SolutionRef:
        of = self.candidate
        return SolutionRef(
            id=of.id,
            sha256=of.sha256,
            weights=self.weights,  # type: ignore[arg-type]
            lines=of.lines,
            changed=self.changed,
        )

    def _check(self, mismatch: Mismatch | None) -> Check:
        found = self.findings
        return Check(
            trials=found.trials,
            calls=self.calls,
            instances=self.instances,
            max_abs_error=_finite(found.max_abs),
            norm_error=_finite(found.norm),
            reference_error=_finite(found.reference.max_abs),
            truth=found.truth,  # type: ignore[arg-type]
            precision=found.precision,
            transforms=tuple(found.transforms),
            dropped_transforms=tuple(found.dropped),
            mismatch=mismatch,
        )

    def _attest(self, series: Series, name: str) -> Attestation:
        batches = series.batch_ms(name)
        if self.device.kind == "cpu":
            return Attestation(status="attested", method="referee-clock", batch_ms=max(median(batches), 0.0))
        hidden = series.flush_s * 1e3
        # The median of rounds, as it is reported: over all calls a few rounds of lies would not show.
        return attest.attest(median(series.claimed_ms(name)), batches, series.singles_ms(name), hidden)

    def _figures(self, series: Series, name: str) -> list[float]:
        """One time a round: by the referee's clock on the CPU, by claims that it bounds on a GPU."""
        if self.device.kind == "cpu":
            return [max(value, LEAST_MS) for value in series.batch_ms(name)]
        found = self._attest(series, name)
        return [max(attest.trusted_ms(claimed, found), LEAST_MS) for claimed in series.claimed_ms(name)]

    def _rounds(self, name: str) -> list[float]:
        return [value for series in self.series for value in self._figures(series, name)]

    def _samples(self, name: str) -> tuple[tuple[float, ...], ...]:
        if self.device.kind == "cpu":
            return tuple((value,) for value in self._rounds(name))
        return tuple(claims for series in self.series for claims in series.sides[name].claims_ms)

    def _process_term(self) -> float:
        """Measured with several processes, else what is usual for the device."""
        medians = [median(self._figures(series, SOLUTION)) for series in self.series]
        spread = process_spread(medians)
        if spread is not None:
            return spread / math.sqrt(len(medians))
        return PROCESS_TERM[self.device.kind if self._idle_share() is None else "host"]

    def _idle_share(self) -> float | None:
        """Where a call of the solution waits for its host, how much of it."""
        on_cpu = self.device.kind == "cpu"
        return None if on_cpu else evidence.idle_share(self.evidence, median(self._rounds(SOLUTION)))

    def _timing(self) -> Timing:
        last = self.series[-1]
        estimate = bootstrap(self._rounds(SOLUTION))
        flush = (
            f"flushed, {self.device.flush_bytes() >> 20} MB written before each call"
            if self.device.kind == "cuda"
            else "rotated"
        )
        return Timing(
            median_ms=estimate.value,
            ci95_ms=(estimate.low, estimate.high),
            samples_ms=self._samples(SOLUTION),
            rounds=sum(len(series.sides[SOLUTION].walls_s) for series in self.series),
            calls_per_round=last.size.calls,
            slots=last.size.slots,
            stopped=last.stopped,  # type: ignore[arg-type]
            cache=flush,
            inputs=last.inputs,
            processes=len(self.series),
            process_term=self._process_term(),
            telemetry=tuple(sample for series in self.series for sample in series.telemetry),
        )

    def _baselines(self) -> dict[str, BaselineTiming]:
        return {name: self._baseline(name) for name in self._baseline_names()}

    def _baseline_names(self) -> list[str]:
        return [name for name in self.series[-1].sides if name != SOLUTION]

    def _baseline(self, name: str) -> BaselineTiming:
        estimate = bootstrap(self._rounds(name))
        return BaselineTiming(
            median_ms=estimate.value, ci95_ms=(estimate.low, estimate.high), samples_ms=self._samples(name)
        )

    def _speedups(self) -> dict[str, Speedup]:
        return {name: _record(self._speedup(name)) for name in self._baseline_names()}

    def _speedup(self, name: str) -> Estimate:
        # Solution and baseline are two processes, so their ratio carries what differs between processes.
        term = self._process_term()
        # That it waits for its host is the worker's word: a wider interval must not share a rank with faster ones.
        above = PROCESS_TERM[self.device.kind] if term == PROCESS_TERM["host"] else term
        return paired_speedup(self._rounds(name), self._rounds(SOLUTION)).widened(term, above)

    def _warnings(self, timing: Timing | None) -> tuple[Warn, ...]:
        warnings = [*warn.of_jail(self.staff.lacking), *warn.of_keeping(self.not_kept)]
        if timing is not None:
            warnings += warn.of_timing(timing, self.foreign, self.attestation)
            warnings += warn.of_waiting(self._idle_share())
            looks = [look for one in self.series for part in one.looks.values() for look in part]
            warnings += warn.of_looks(looks, self.disturbed)
            warnings += floor.warning(self.floor, timing.median_ms)
        return tuple(warnings)


def environment() -> Environment:
    tools = toolchain.find()
    return Environment(
        kbench=kbench.__version__,
        python=platform.python_version(),
        torch=str(torch.__version__),
        cuda=torch.version.cuda,
        nvcc=tools.nvcc_version,
        compiler=tools.compiler_version,
        platform=platform.platform(),
    )


def _record(estimate: Estimate) -> Speedup:
    return Speedup(value=estimate.value, ci95=(estimate.low, estimate.high))


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def _joined(log: str, traceback: str) -> str:
    return "\n".join(part for part in (log.rstrip(), traceback.rstrip()) if part)[-MAX_LOG:]
