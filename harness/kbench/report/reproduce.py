"""The command that evaluates a result's pair once more, with the same settings."""

from __future__ import annotations

import shlex

from kbench.options import Option
from kbench.records import TIMED_CALL, Result, Settings
from kbench.settings import OPTIONS

USUAL = Settings()


def command(result: Result) -> str:
    """For a shell in the project. What did not pass runs under its seed.

    Where checks and timed calls had seeds of their own, that is the seed of what failed.
    """
    solution = result.run.solution if result.run else result.solution.id
    parts = ["kbench", "eval", result.problem.id, solution]
    parts += ["--device", result.device.kind, "--workload", result.problem.workload]
    settings = result.settings or USUAL
    for option in OPTIONS:
        value = getattr(settings, option.field)
        if value != getattr(USUAL, option.field):
            parts += _given(option, value)
    if not result.passed and result.seeds:
        in_timing = result.check and result.check.mismatch and result.check.mismatch.trial == TIMED_CALL
        parts += ["--seed", str(result.seeds[-1 if in_timing else 0])]
    return shlex.join(parts)


def _given(option: Option, value: object) -> list[str]:
    if option.kind == "flag":
        return [f"--{option.name}"]
    if isinstance(value, dict):
        values = [f"{stage}={seconds:g}" for stage, seconds in value.items()]
    else:
        values = [str(part) for part in value] if isinstance(value, tuple) else [str(value)]
    return [part for text in values for part in (f"--{option.name}", text)]
