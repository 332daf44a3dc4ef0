"""What one evaluation is asked to do: the options of `kbench eval`, checked once, frozen."""

from __future__ import annotations

from kbench.errors import UsageFault
from kbench.records import BuildMode, Record, Stage

STAGES: tuple[Stage, ...] = ("load", "build", "first-call", "call", "total")
DEADLINES: dict[str, dict[str, float]] = {
    "cpu": {"load": 30, "build": 300, "first-call": 60, "call": 20, "total": 240},
    "cuda": {"load": 60, "build": 300, "first-call": 120, "call": 20, "total": 600},
}
# What a build may wait beside its own compilation: for the same build or a slot elsewhere, and for the glue.
BUILD_WAIT_S = 300.0
GLUE_TIMEOUT_S = 240.0
LONGEST_WAIT_S = GLUE_TIMEOUT_S + 2 * BUILD_WAIT_S
BASELINES = ("eager", "compile")
BUILD_MODES: tuple[BuildMode, ...] = ("auto", "light", "full")
MAX_SEED = 2**63 - 1


class Settings(Record, frozen=True):
    device: str = "auto"
    trials: int = 5
    budget_s: float = 2.0
    baselines: tuple[str, ...] = ("eager",)
    atol: float | None = None
    rtol: float | None = None
    timeouts: dict[str, float] = {}
    entry: str | None = None
    processes: int = 1
    seed: int | None = None
    require_jail: bool = False
    build: BuildMode = "auto"
    keep: str | None = None  # a folder that receives the worker's scratch and the build logs


def checked(settings: Settings) -> Settings:
    """The settings, or a UsageFault that names the first one that cannot be."""
    _require(settings.trials >= 1, "--trials must be at least 1")
    _require(settings.budget_s > 0, "--budget must be more than 0 seconds")
    _require(1 <= settings.processes <= 64, "--processes must be between 1 and 64")
    _require(bool(settings.baselines), "at least one --baseline is needed")
    for name in settings.baselines:
        _require(name in BASELINES, f"unknown baseline {name!r}; known are {', '.join(BASELINES)}")
    for name, bound in (("--atol", settings.atol), ("--rtol", settings.rtol)):
        _require(bound is None or 0 <= bound < float("inf"), f"{name} must be a number of at least 0")
    _require(settings.build in BUILD_MODES, f"unknown --build {settings.build!r}; known are {', '.join(BUILD_MODES)}")
    for stage, seconds in settings.timeouts.items():
        _require(stage in STAGES, f"unknown stage {stage!r} in --timeout; stages are {', '.join(STAGES)}")
        _require(0 < seconds < float("inf"), f"--timeout {stage} must be more than 0 seconds")
    _require(settings.seed is None or 0 <= settings.seed <= MAX_SEED, f"--seed must be 0 to {MAX_SEED}")
    return settings


def deadlines(settings: Settings, device_kind: str, of_problem: dict[str, float]) -> dict[str, float]:
    """Seconds per stage: the defaults, overridden by the problem's `timeout`, then by the user."""
    return {**DEADLINES[device_kind], **of_problem, **settings.timeouts}


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise UsageFault(message, "see kbench eval --help")
