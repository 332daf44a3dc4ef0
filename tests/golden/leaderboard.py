"""Writes the stored results and the golden leaderboards anew: `python tests/golden/leaderboard.py`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from kbench.records import Attestation, BaselineTiming, Result, Speedup  # noqa: E402
from kbench.report import board  # noqa: E402
from kbench.report.standing import groups  # noqa: E402
from kbench.sweep.store import read  # noqa: E402
from made import CPU, TORCH, result  # noqa: E402
from msgspec import structs  # noqa: E402

FAILED = ("wrong", "build_failed", "load_failed", "crashed", "timed_out", "out_of_memory", "cheated", "unsupported")
RESULTS = HERE / "leaderboard.jsonl"


def stored() -> list[Result]:
    """Every verdict, two sets, two workloads, two devices, an older result, one under known seeds."""
    made = [
        result("fusion/add", "fusion/add/fast", speedup=2.1, of_set="ours", median_ms=0.0123),
        result("fusion/add", "fusion/add/slow", speedup=0.4, of_set="ours", noisy=True, median_ms=12.5),
        result("fusion/add", "fusion/add/alike", speedup=2.08, of_set="model", median_ms=0.0124),
        result("fusion/add", "fusion/add/fast", speedup=1.5, of_set="ours", workload="odd", median_ms=1.75),
    ]
    compiled = {"compile": BaselineTiming(0.5, (0.49, 0.51), kept="2026-01-01T00:00:00.000000Z", cost_s=21.0)}
    made[0] = structs.replace(
        made[0],
        baselines={**made[0].baselines, **compiled},
        speedup={**made[0].speedup, "compile": Speedup(1.05, (1.01, 1.1))},
        attestation=Attestation("loose", "events-bounded", 0.01, 0.0123, 0.0125, 0.005),
    )
    for number, verdict in enumerate(FAILED):
        made.append(result("sort", f"sort/sample_{number}", verdict, of_set="model"))  # type: ignore[arg-type]
    made.append(
        structs.replace(made[-1], reason="=cmd|' /C calc'!A0 | <b>*not* `safe`</b>", solution=made[-2].solution)
    )
    made.append(result("sort", "sort/sample_0", speedup=9.0, of_set="model", finished="2025-01-01T00:00:00.000000Z"))
    made.append(result("sort", "sort/known", speedup=9.0, seed=5))
    made.append(result("fusion/add", "fusion/add/fast", speedup=1.1, device=CPU, environment=TORCH, median_ms=3.0))
    return made


def outputs() -> dict[str, str]:
    found = groups(read(RESULTS), "eager")
    return {
        "leaderboard.csv": board.as_csv(found),
        "leaderboard.md": board.as_markdown(found, "A run"),
        "leaderboard_mixed.md": board.as_markdown(groups(read(RESULTS), "eager", mix=True), "Mixed", strict=True),
    }


if __name__ == "__main__":
    RESULTS.write_text("".join(one.to_json() + "\n" for one in stored()))
    for name, text in outputs().items():
        (HERE / name).write_text(text)
