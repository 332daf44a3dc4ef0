"""Results as a pandas table: one row a pair and workload, typed columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kbench.records import Result

if TYPE_CHECKING:
    import pandas

TYPES = {
    "key": "string", "finished": "datetime64[ns, UTC]", "problem": "string", "workload": "string", "set": "string",
    "solution": "string", "verdict": "category", "reason": "string", "device": "category", "kind": "category",
    "torch": "category", "cuda": "category", "kbench": "category", "median_ms": "float64", "low_ms": "float64",
    "high_ms": "float64", "attestation": "category", "build_path": "category", "build_s": "float64",
    "build_cached": "boolean", "trials": "Int64", "calls": "Int64", "max_abs_error": "float64", "norm_error": "float64",
    "warnings": "string", "problem_sha256": "string", "solution_sha256": "string", "held_s": "float64",
    "total_s": "float64", "attempts": "Int64", "seed": "Int64",
}  # fmt: skip


def frame(results: Iterable[Result]) -> pandas.DataFrame:
    """The columns of TYPES, then three for each baseline: its median, the speedup and its interval's ends."""
    import pandas

    listed = list(results)
    names = sorted({name for result in listed for name in result.baselines})
    types = TYPES | {column: "float64" for name in names for column in _columns(name)}
    made = pandas.DataFrame([_row(result, names) for result in listed], columns=list(types))
    made["finished"] = pandas.to_datetime(made["finished"], utc=True)
    return made.astype(types)


def _columns(baseline: str) -> tuple[str, ...]:
    return f"{baseline}_ms", f"speedup_{baseline}", f"speedup_{baseline}_low", f"speedup_{baseline}_high"


def _row(result: Result, baselines: list[str]) -> dict[str, Any]:
    row = {**_who(result), **_what(result)}
    for name in baselines:
        timing, speedup = result.baselines.get(name), result.speedup.get(name)
        ends = speedup.ci95 if speedup else (None, None)
        values = (timing.median_ms if timing else None, speedup.value if speedup else None, *ends)
        row |= dict(zip(_columns(name), values, strict=True))
    return row


def _who(result: Result) -> dict[str, Any]:
    run = result.run
    return {
        "key": run.key if run else None,
        "finished": run.finished if run else None,
        "problem": result.problem.id,
        "workload": result.problem.workload,
        "set": run.set if run else None,
        "solution": result.solution.id,
        "device": result.device.name,
        "kind": result.device.kind,
        "torch": result.environment.torch,
        "cuda": result.environment.cuda,
        "kbench": result.environment.kbench,
        "problem_sha256": result.problem.sha256,
        "solution_sha256": result.solution.sha256,
        "held_s": run.held_s if run else None,
        "attempts": run.attempts if run else None,
        "seed": result.seed,
    }


def _what(result: Result) -> dict[str, Any]:
    timing, check, build = result.timing, result.check, result.build
    return {
        "verdict": result.verdict,
        "reason": result.reason,
        "median_ms": timing.median_ms if timing else None,
        "low_ms": timing.ci95_ms[0] if timing else None,
        "high_ms": timing.ci95_ms[1] if timing else None,
        "attestation": result.attestation.status if result.attestation else None,
        "build_path": build.path if build else None,
        "build_s": build.seconds if build else None,
        "build_cached": build.cached if build else None,
        "trials": check.trials if check else None,
        "calls": check.calls if check else None,
        "max_abs_error": check.max_abs_error if check else None,
        "norm_error": check.norm_error if check else None,
        "warnings": ", ".join(warning.code for warning in result.warnings),
        "total_s": result.seconds.get("total"),
    }
