"""Compiled baselines: measured once for each problem, workload, device and environment, and kept.

Each is measured against eager, beside which every solution is timed too. The two ratios give the solution's speedup
over the compiled one, and whatever made the whole device slower in between falls out.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import structs

from kbench.build.cache import sweep
from kbench.records import BaselineTiming, DeviceInfo, Environment, Record, Result, Speedup, Warn, comparable
from kbench.settings import EAGER
from kbench.stats import log_distance
from kbench.sweep.pair import Pair

NEW, STALE_S = "new-", 3600.0  # begins what is not whole yet; what is older, a kill has left
FARTHEST = 50.0  # as an exponent: JSON knows no infinity
Measure = Callable[[str], Result]


class Kept(Record, frozen=True):
    """One compiled baseline, or why there is none."""

    name: str
    timing: BaselineTiming | None
    over_eager: Speedup | None
    problem: str
    workload: str
    reason: str | None = None


class Shelf:
    """Where they are kept: beside the builds. `folder` None keeps them for this run only."""

    def __init__(self, folder: Path | None, afresh: bool = False) -> None:
        self.folder = folder
        self.afresh = afresh  # what was kept earlier is measured again, once
        self._known: dict[str, Kept] = {}
        self._turns: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        if folder:
            sweep(folder, f"{NEW}*", STALE_S)

    def get(self, pair: Pair, name: str, place: tuple[DeviceInfo, Environment], measure: Measure) -> Kept:
        """What is kept, else what `measure` finds. Two devices that need the same measure it once."""
        key = _key(pair, name, *place)
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            if key not in self._known:
                found = None if self.afresh else self._read(key)
                self._known[key] = found or self._measured(key, pair, name, measure)
            return self._known[key]

    def _measured(self, key: str, pair: Pair, name: str, measure: Measure) -> Kept:
        kept = of_result(measure(name), name, pair)
        # A failure is remembered for this run only: the next one may have more time or memory.
        if kept.timing and self.folder:
            with contextlib.suppress(OSError):
                self.folder.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile(dir=self.folder, prefix=NEW, delete=False) as file:
                    file.write(msgspec.json.encode(kept))
                Path(file.name).rename(self.folder / f"{key}.json")
        return kept

    def _read(self, key: str) -> Kept | None:
        if self.folder is None:
            return None
        try:
            return msgspec.json.decode((self.folder / f"{key}.json").read_bytes(), type=Kept)
        except (OSError, msgspec.DecodeError):
            return None


def of_result(result: Result, name: str, pair: Pair) -> Kept:
    """From the problem evaluated as its own solution, beside eager and the compiled form."""
    missing = Kept(name, None, None, pair.problem_id, pair.workload, result.reason or "it was not timed")
    if not result.passed or name not in result.speedup or EAGER not in result.speedup:
        return missing
    finished = result.run.finished if result.run else None
    timing = structs.replace(
        result.baselines[name], samples_ms=(), kept=finished, cost_s=round(result.seconds.get("total", 0.0), 3)
    )
    over_eager = quotient(result.speedup[EAGER], result.speedup[name])
    return Kept(name, timing, over_eager, pair.problem_id, pair.workload)


def quotient(of: Speedup, by: Speedup) -> Speedup:
    """Their ratio, with independent errors added in quadrature on the scale of ratios."""
    value = of.value / by.value
    below = math.hypot(log_distance(of.ci95[0], of.value), log_distance(by.value, by.ci95[1]))
    above = math.hypot(log_distance(of.value, of.ci95[1]), log_distance(by.ci95[0], by.value))
    return Speedup(value, (value * math.exp(-below), value * math.exp(min(above, FARTHEST))))


def against(result: Result, kept: Kept) -> Result:
    """The result with its speedup over a kept baseline."""
    if kept.timing is None or kept.over_eager is None:
        warning = Warn(
            code="baseline",
            message=f"no {kept.name} baseline: {kept.reason}",
            next=f"kbench eval --baseline {kept.name} says more",
        )
        return structs.replace(result, warnings=(*result.warnings, warning))
    baselines = {**result.baselines, kept.name: kept.timing}
    if EAGER not in result.speedup:
        return structs.replace(result, baselines=baselines)
    over = quotient(result.speedup[EAGER], kept.over_eager)
    return structs.replace(result, baselines=baselines, speedup={**result.speedup, kept.name: over})


def _key(pair: Pair, name: str, device: DeviceInfo, environment: Environment) -> str:
    parts = (pair.problem_sha256, pair.workload, name, msgspec.to_builtins(comparable(device, environment)))
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:32]
