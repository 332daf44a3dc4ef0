"""Gathers what an evaluation finds and makes the Result of it."""

from __future__ import annotations

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
    Check,
    Environment,
    Evidence,
    Floor,
    Mismatch,
    ProblemRef,
    Result,
    Settings,
    SolutionRef,
    Timing,
    Warn,
)
from kbench.referee import evidence, floor
from kbench.referee.builds import Builds
from kbench.referee.check import Findings
from kbench.referee.ruling import Ruling
from kbench.referee.series import Series
from kbench.referee.side import SOLUTION
from kbench.referee.staff import Staff
from kbench.referee.times import Times
from kbench.report import warn
from kbench.stats import median

MAX_LOG = 64 * 1024
MAX_REASON = 2000


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
        self.weights: str | None = None
        self.changed: tuple[str, ...] = ()
        self.calls = 0
        self.instances = 0
        self.times = Times(device.kind)
        self.disturbed = 0  # series that were given up because the GPU was busy
        self.attestation: Attestation | None = None
        self.evidence: Evidence | None = None
        self.floor: Floor | None = None
        self.not_kept: str | None = None
        self.foreign: list[int] = []
        self.log = ""
        self.seconds: dict[str, float] = {}

    def attest(self, series: Series) -> Attestation:
        self.attestation = self.times.attested(series, SOLUTION)
        return self.attestation

    def timed(self, series: Series, probe: Probe) -> None:
        self.times.series.append(series)
        self.foreign = probe.foreign()

    def traced(self, traced: Traced) -> None:
        self.evidence = evidence.weigh(traced, self.builds.summary(), self.device.kind)

    def ruling(self) -> Ruling:
        """Of one that was right in every call: whether its times can be true, and what the problem asks of it."""
        if self.attestation and self.attestation.status == "contradicted":
            claimed, batch, single = (
                units.duration(value or 0.0)
                for value in (self.attestation.claimed_ms, self.attestation.batch_ms, self.attestation.single_ms)
            )
            seen = f"the referee's clock saw {batch} in batches and {single} singly, in two series"
            return Ruling("cheated", f"it claims {claimed} a call; {seen}")
        impossible = floor.judge(self.floor, median(self.times.rounds(SOLUTION)), self.device.kind)
        if impossible:
            return impossible
        # On the CPU times of single functions say nothing about what a call takes with all of its threads. On a GPU
        # the time that counts: who claims more to excuse a longer traced call is slower by as much.
        timed_ms = median(self.times.rounds(SOLUTION)) if self.device.kind == "cuda" else None
        off = evidence.policy(self.evidence, self.custom_kernel, timed_ms)
        return off or Ruling("passed", "correct in every call")

    def result(self, ruling: Ruling) -> Result:
        waits = self._idle_share() is not None
        timing = self.times.timing(self.device.flush_bytes(), waits) if self.times.series else None
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
            baselines=self.times.baselines() if timing else {},
            speedup=self.times.speedups(waits) if ruling.verdict == "passed" else {},
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

    def _idle_share(self) -> float | None:
        """Where a call of the solution waits for its host, how much of it."""
        if self.device.kind == "cpu" or not self.times.series:
            return None
        return evidence.idle_share(self.evidence, median(self.times.rounds(SOLUTION)))

    def _warnings(self, timing: Timing | None) -> tuple[Warn, ...]:
        warnings = [*warn.of_jail(self.staff.lacking), *warn.of_keeping(self.not_kept)]
        if timing is not None:
            warnings += warn.of_timing(timing, self.foreign, self.attestation)
            warnings += warn.of_waiting(self._idle_share())
            looks = [look for one in self.times.series for part in one.looks.values() for look in part]
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


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def _joined(log: str, traceback: str) -> str:
    return "\n".join(part for part in (log.rstrip(), traceback.rstrip()) if part)[-MAX_LOG:]
