"""What `KBENCH` in a problem file may say: every key, its type, and what is said of a mistake."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, get_args

from kbench import module
from kbench.options import nearest
from kbench.problem import Source, fault
from kbench.records import LintCheck, Record
from kbench.settings import BASELINES, STAGES

TRANSFORMS = ("one", "sign", "scale", "shrink", "large", "shift", "normal", "ties")
DEFAULT_TRANSFORMS = ("one", "sign", "scale")
LINT_CHECKS: tuple[str, ...] = get_args(LintCheck)


class ProblemSettings(Record, frozen=True):
    """What `KBENCH` in a problem file may say."""

    workloads: dict[str, dict[str, Any]] = {}
    grad: bool = False
    atol: float | None = None
    rtol: float | None = None
    norm_tol: float | None = None
    precision: str = "declared"
    transforms: tuple[str, ...] = DEFAULT_TRANSFORMS
    custom_kernel: bool | float = False
    tags: tuple[str, ...] = ()
    bytes: float | None = None
    flops: float | None = None
    check: Callable[..., Any] | None = None
    baselines: tuple[str, ...] = ()
    timeout: dict[str, float] = {}
    lint: dict[str, str] = {}  # checks of lint-problem that it need not pass, and why


def read(source: Source, loaded: ModuleType) -> ProblemSettings:
    """`KBENCH`, with every key, type and workload checked."""
    given = getattr(loaded, "KBENCH", {})
    if not isinstance(given, dict):
        raise fault(source, f"KBENCH is a {type(given).__name__}", "write KBENCH = dict(...)")
    known = ProblemSettings.__struct_fields__
    for key in given:
        if key not in known:
            what = f"unknown key {key!r} in KBENCH{nearest(str(key), known)}"
            raise fault(source, what, f"keys are {', '.join(known)}")
    values = {key: _CHECKS[key](source, key, value) for key, value in given.items()}
    return ProblemSettings(**values)


def _workloads(source: Source, key: str, value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(v, dict) for v in value.values()):
        raise fault(source, "workloads is no dict of dicts", 'write workloads={"default": {}, ...}')
    known = module.constants(source.text, source.path)
    for name, overrides in value.items():
        for constant in overrides:
            if constant not in known:
                hint = nearest(str(constant), known)
                raise fault(
                    source,
                    f"workload {name!r} names {constant!r}, which is no top-level constant{hint}",
                    "a workload may replace what is assigned at the top level of the file",
                )
    return {str(name): dict(overrides) for name, overrides in value.items()}


def _flag(source: Source, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise fault(source, f"{key} is {value!r}", f"{key} is True or False")
    return value


def _bound(source: Source, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise fault(source, f"{key} is {value!r}", f"{key} is a number of at least 0")
    return float(value)


def _names(known: tuple[str, ...] | None) -> Callable[[Source, str, Any], tuple[str, ...]]:
    def check(source: Source, key: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not all(isinstance(name, str) for name in value):
            raise fault(source, f"{key} is {value!r}", f"{key} is a list of names")
        unknown = [name for name in value if known and name not in known]
        if unknown:
            raise fault(source, f"{key} names {unknown[0]!r}", f"known are {', '.join(known or ())}")
        return tuple(value)

    return check


def _precision(source: Source, key: str, value: Any) -> str:
    if value not in ("declared", "full"):
        raise fault(source, f"precision is {value!r}", "precision is 'declared' or 'full'")
    return str(value)


def _custom_kernel(source: Source, key: str, value: Any) -> bool | float:
    if isinstance(value, bool):
        return value
    share = _bound(source, key, value)
    if share > 1:
        raise fault(source, f"{key} is {value!r}", f"{key} is True, False or a share of the time up to 1")
    return share


def _check(source: Source, key: str, value: Any) -> Callable[..., Any]:
    if not callable(value):
        raise fault(source, f"check is {value!r}", "check is a function of inputs and outputs")
    return value  # type: ignore[no-any-return]


def _timeout(source: Source, key: str, value: Any) -> dict[str, float]:
    given = value if isinstance(value, dict) else {"total": value}
    for stage, seconds in given.items():
        if stage not in STAGES:
            raise fault(source, f"timeout names {stage!r}", f"stages are {', '.join(STAGES)}")
        _bound(source, f"timeout of {stage}", seconds)
    return {stage: float(seconds) for stage, seconds in given.items()}


def _lint(source: Source, key: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(reason, str) and reason for reason in value.values()):
        raise fault(source, f"{key} is {value!r}", "lint is a dict: a check, and the reason why it need not pass")
    unknown = [name for name in value if name not in LINT_CHECKS]
    if unknown:
        raise fault(source, f"{key} names {unknown[0]!r}", f"checks are {', '.join(LINT_CHECKS)}")
    return dict(value)


_CHECKS: dict[str, Callable[[Source, str, Any], Any]] = {
    "workloads": _workloads,
    "grad": _flag,
    "atol": _bound,
    "rtol": _bound,
    "norm_tol": _bound,
    "precision": _precision,
    "transforms": _names(TRANSFORMS),
    "custom_kernel": _custom_kernel,
    "tags": _names(None),
    "bytes": _bound,
    "flops": _bound,
    "check": _check,
    "baselines": _names(BASELINES),
    "timeout": _timeout,
    "lint": _lint,
}
