"""The immutable records that stages hand on, and the Result that leaves kbench as JSON.

Absent is `None`. Times are milliseconds unless the name says otherwise. `kbench schema` prints the JSON schema.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import structs

SCHEMA = 1

Verdict = Literal[
    "passed",
    "wrong",
    "build_failed",
    "load_failed",
    "crashed",
    "timed_out",
    "out_of_memory",
    "cheated",
    "unsupported",
]
Stage = Literal["load", "build", "first-call", "call", "total"]
BuildMode = Literal["auto", "light", "full"]
Interval = tuple[float, float]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every record: immutable, strict about unknown fields."""


class Settings(Record, frozen=True):
    """What one evaluation is asked to do; `kbench.settings` says what each may be."""

    device: str = "auto"
    trials: int = 5
    budget_s: float = 2.0
    baselines: tuple[str, ...] = ()  # none: the problem's own, else eager
    atol: float | None = None
    rtol: float | None = None
    timeouts: dict[str, float] = {}
    entry: str | None = None
    processes: int = 1
    seed: int | None = None
    require_jail: bool = False
    build: BuildMode = "auto"
    keep: str | None = None  # a folder that receives the worker's scratch


class Run(Record, frozen=True):
    """Where a result belongs in a sweep."""

    key: str  # of problem, workload, solution, settings and environment: what is done once is found by it
    finished: str  # UTC, as 2026-01-31T12:00:00.000000Z
    solution: str  # where it was found, below the root if it lies there
    set: str | None = None
    attempts: int = 1
    held_s: float | None = None  # how long the device was not free for another pair


class ProblemRef(Record, frozen=True):
    id: str
    sha256: str
    workload: str


class SolutionRef(Record, frozen=True):
    id: str
    sha256: str
    weights: Literal["loaded", "seeded"] | None = None
    lines: tuple[int, int] | None = None  # where in a reply the code was found
    changed: tuple[str, ...] = ()  # process-wide settings that importing it changed


class DeviceInfo(Record, frozen=True):
    kind: Literal["cpu", "cuda"]
    name: str
    index: int | None = None
    threads: int | None = None
    memory_bytes: int | None = None
    cache_bytes: int | None = None
    capability: str | None = None
    uuid: str | None = None
    driver: str | None = None


class Environment(Record, frozen=True):
    kbench: str
    python: str
    torch: str
    cuda: str | None
    nvcc: str | None
    compiler: str | None
    platform: str


class Kernel(Record, frozen=True):
    """What one kernel uses of the device, as ptxas says."""

    name: str
    arch: str
    registers: int
    stack_bytes: int
    spill_stores_bytes: int
    spill_loads_bytes: int
    shared_bytes: int


class BuildError(Record, frozen=True):
    """The first error that matters, at its line in the solution's own file where that was found."""

    message: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    code: str | None = None  # the text of that line


class Extension(Record, frozen=True):
    """One `load_inline` or `load` of a solution."""

    name: str
    key: str
    cached: bool
    seconds: float
    artifact: str | None  # sha256; None where the build failed
    path: Literal["light", "full"] | None = None
    why_full: str | None = None  # what kept it from the light path
    kernels: tuple[Kernel, ...] = ()
    error: BuildError | None = None
    log: str | None = None
    log_file: str | None = None  # the whole log of a failed build


class Build(Record, frozen=True):
    seconds: float
    cached: bool
    path: Literal["light", "full", "none"]
    extensions: tuple[Extension, ...] = ()


TIMED_CALL = "a timed call"  # what a mismatch has for a trial where it is of the timed rounds


class Mismatch(Record, frozen=True):
    """Where and how an output is off."""

    output: str
    trial: str
    summary: str
    wrong: int | None = None
    total: int | None = None
    index: tuple[int, ...] | None = None
    got: float | int | bool | str | None = None
    expected: float | int | bool | str | None = None
    pattern: str | None = None


Precision = Literal["float32", "tf32-like", "bf16-like"]  # from the finest to the coarsest


class Check(Record, frozen=True):
    trials: int
    calls: int
    instances: int
    max_abs_error: float | None
    norm_error: float | None
    reference_error: float | None  # of the reference itself, at its default precision
    truth: Literal["float64", "float32"] | None
    precision: Precision | None = None  # what float32 outputs look as if they were computed in
    transforms: tuple[str, ...] = ()
    dropped_transforms: tuple[str, ...] = ()
    mismatch: Mismatch | None = None


class Telemetry(Record, frozen=True):
    """The device around one round; None where it does not tell."""

    sm_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    throttle: tuple[str, ...] = ()


class Timing(Record, frozen=True):
    median_ms: float
    ci95_ms: Interval
    samples_ms: tuple[tuple[float, ...], ...]  # one row a round: its calls, or their mean on the CPU
    rounds: int
    calls_per_round: int
    slots: int
    stopped: Literal["tight", "budget", "rounds"]
    cache: str
    inputs: str  # how the contents of timed calls were derived
    processes: int
    process_term: float
    telemetry: tuple[Telemetry, ...] = ()


class BaselineTiming(Record, frozen=True):
    median_ms: float
    ci95_ms: Interval
    samples_ms: tuple[tuple[float, ...], ...] = ()
    kept: str | None = None  # when it was measured, where that was not beside this solution
    cost_s: float | None = None  # what measuring it took


class Speedup(Record, frozen=True):
    value: float
    ci95: Interval


class Attestation(Record, frozen=True):
    status: Literal["attested", "loose", "contradicted"]
    method: Literal["referee-clock", "events-bounded"]
    claimed_ms: float | None = None
    batch_ms: float | None = None
    single_ms: float | None = None
    slack_ms: float | None = None


class Floor(Record, frozen=True):
    """The least time a call can take on this device."""

    ms: float
    by: Literal["bytes", "operations"]
    bytes: float
    operations: float | None
    bytes_per_s: float
    operations_per_s: float
    stated: bool  # by the problem; else inputs, outputs and weights are counted once


Origin = Literal["own", "triton", "generated", "library"]


class Ran(Record, frozen=True):
    """What ran in the traced call under one name."""

    name: str
    origin: Origin  # compiled by the solution, by Triton for it, by Inductor, or a library's
    calls: int
    ms: float
    share: float


class Evidence(Record, frozen=True):
    """An untimed call, as the solution's own process tells it: kernels on a GPU, functions on the CPU."""

    own_share: float  # of the time, in what the solution wrote: extensions and Triton
    ms: float
    ran: tuple[Ran, ...]  # the longest first


class Warn(Record, frozen=True):
    """A warning is data: what was seen, and what to do next."""

    code: str
    message: str
    next: str


class Result(Record, frozen=True, kw_only=True):
    schema: int = SCHEMA
    verdict: Verdict
    reason: str | None
    problem: ProblemRef
    solution: SolutionRef
    device: DeviceInfo
    environment: Environment
    seed: int | None
    seeds: tuple[int, ...]
    build: Build | None = None
    check: Check | None = None
    timing: Timing | None = None
    baselines: dict[str, BaselineTiming] = {}
    speedup: dict[str, Speedup] = {}
    attestation: Attestation | None = None
    evidence: Evidence | None = None
    floor: Floor | None = None
    jail: dict[str, str] = {}
    warnings: tuple[Warn, ...] = ()
    log: str = ""
    seconds: dict[str, float] = {}
    settings: Settings | None = None
    run: Run | None = None

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()


def comparable(device: DeviceInfo, environment: Environment) -> tuple[DeviceInfo, Environment]:
    """What must agree for times to be comparable: not which of several equal GPUs, and not the kernel's patch level."""
    alike = structs.replace(device, index=None, uuid=None, memory_bytes=None)
    return alike, structs.replace(environment, platform="")


def result_schema() -> dict[str, Any]:
    return msgspec.json.schema(Result)


LintCheck = Literal[
    "zeros",
    "constant",
    "mean",
    "copy",
    "rows",
    "coarse",
    "weights",
    "idle",
    "flat",
    "unmoved",
    "small",
    "one-sided",
    "short",
]


class Complaint(Record, frozen=True):
    """Something that makes a problem easy to cheat, or hard to judge by."""

    check: LintCheck
    text: str
    allowed: str | None  # why the problem says that this is fine


class Linted(Record, frozen=True, tag=True):
    """What `kbench lint-problem` says of one workload."""

    problem: str
    workload: str
    complaints: tuple[Complaint, ...]

    @property
    def passed(self) -> bool:
        return all(complaint.allowed is not None for complaint in self.complaints)
