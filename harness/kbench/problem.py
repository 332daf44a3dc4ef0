"""A problem file: `Model`, `get_inputs`, `get_init_inputs` and optional `KBENCH` settings.

The format is KernelBench's, unchanged. A workload replaces top-level constants while the file executes.
"""

from __future__ import annotations

import difflib
import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from kbench import module
from kbench.errors import ProblemFault, UsageFault
from kbench.records import LintCheck, Record
from kbench.settings import BASELINES, STAGES

MODULE_NAME = "kbench_problem"
REQUIRED = ("Model", "get_inputs")
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


class Source(Record, frozen=True):
    """A problem file as text, before anything of it runs."""

    path: str
    id: str
    text: str
    sha256: str


def read(path: Path, id: str) -> Source:
    try:
        data = path.read_bytes()
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ProblemFault(f"cannot read the problem {path}: {error}", "a problem is a Python file") from None
    try:
        compile(text, str(path), "exec")
    except (SyntaxError, ValueError) as error:
        where = f"{path}:{getattr(error, 'lineno', None) or 1}"
        raise ProblemFault(f"{where}: not Python: {error}", "mend the line, or name another file") from None
    return Source(path=str(path), id=id, text=text, sha256=hashlib.sha256(data).hexdigest())


class Outline(Record, frozen=True):
    """What the text of a problem says about it, without running it."""

    workloads: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    grad: bool = False


def outline(source: Source) -> Outline:
    """For lists and plans, which must not run the file. What is not written out in `KBENCH` cannot be seen here."""
    entries = module.written(source.text, "KBENCH")
    if entries is None:
        raise _fault(source, "KBENCH is computed, not written out", "write KBENCH = dict(...), for sweeps to read it")
    lists = [key for key in Outline.__struct_fields__ if key != "grad"]
    found = {key: module.names_in(entries[key]) for key in lists if key in entries}
    hidden = [key for key, names in found.items() if names is None]
    if hidden:
        raise _fault(source, f"{hidden[0]} in KBENCH is computed, not written out", "write its names out")
    grad = module.is_true(entries.get("grad"))
    return Outline(grad=grad, **{key: names for key, names in found.items() if names is not None})


def load(source: Source, overrides: Mapping[str, Any] | None = None) -> ModuleType:
    """Runs the file. Only a referee or a worker may do this, never the command line."""
    loaded = module.execute(source.text, source.path, MODULE_NAME, dict(overrides or {}))
    missing = [name for name in REQUIRED if not callable(getattr(loaded, name, None))]
    if missing:
        raise ProblemFault(
            f"{source.path} defines no {' and no '.join(missing)}",
            "a problem defines class Model, get_inputs() and, where Model takes arguments, get_init_inputs()",
        )
    return loaded


def settings(source: Source, loaded: ModuleType) -> ProblemSettings:
    """`KBENCH`, with every key, type and workload checked."""
    given = getattr(loaded, "KBENCH", {})
    if not isinstance(given, dict):
        raise _fault(source, f"KBENCH is a {type(given).__name__}", "write KBENCH = dict(...)")
    for key in given:
        if key not in ProblemSettings.__struct_fields__:
            raise _fault(source, f"unknown key {key!r} in KBENCH{_nearest(key)}", _known())
    values = {key: _CHECKS[key](source, key, value) for key, value in given.items()}
    return ProblemSettings(**values)


def choose_workloads(known: tuple[str, ...], asked: tuple[str, ...], device_kind: str, id: str) -> list[str]:
    """The names to run. Without a wish: `cpu` on the CPU where there is one, else `default`."""
    known = known or ("default",)
    if "all" in asked:
        return list(known)
    for name in asked:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; the nearest is {close[0]!r}" if close else ""
            raise UsageFault(f"{id} has no workload {name!r}{hint}", f"workloads are {', '.join(known)}")
    if asked:
        return list(dict.fromkeys(asked))
    if device_kind == "cpu" and "cpu" in known:
        return ["cpu"]
    return ["default"]


def _fault(source: Source, what: str, fix: str) -> ProblemFault:
    return ProblemFault(f"{source.path}: {what}", fix)


def _known() -> str:
    return f"keys are {', '.join(ProblemSettings.__struct_fields__)}"


def _nearest(key: object) -> str:
    close = difflib.get_close_matches(str(key), ProblemSettings.__struct_fields__, n=1)
    return f"; the nearest is {close[0]!r}" if close else ""


def _workloads(source: Source, key: str, value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(v, dict) for v in value.values()):
        raise _fault(source, "workloads is no dict of dicts", 'write workloads={"default": {}, ...}')
    known = module.constants(source.text, source.path)
    for name, overrides in value.items():
        for constant in overrides:
            if constant not in known:
                close = difflib.get_close_matches(str(constant), known, n=1)
                hint = f"; the nearest is {close[0]!r}" if close else ""
                raise _fault(
                    source,
                    f"workload {name!r} names {constant!r}, which is no top-level constant{hint}",
                    "a workload may replace what is assigned at the top level of the file",
                )
    return {str(name): dict(overrides) for name, overrides in value.items()}


def _flag(source: Source, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _fault(source, f"{key} is {value!r}", f"{key} is True or False")
    return value


def _bound(source: Source, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise _fault(source, f"{key} is {value!r}", f"{key} is a number of at least 0")
    return float(value)


def _names(known: tuple[str, ...] | None) -> Callable[[Source, str, Any], tuple[str, ...]]:
    def check(source: Source, key: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not all(isinstance(name, str) for name in value):
            raise _fault(source, f"{key} is {value!r}", f"{key} is a list of names")
        unknown = [name for name in value if known and name not in known]
        if unknown:
            raise _fault(source, f"{key} names {unknown[0]!r}", f"known are {', '.join(known or ())}")
        return tuple(value)

    return check


def _precision(source: Source, key: str, value: Any) -> str:
    if value not in ("declared", "full"):
        raise _fault(source, f"precision is {value!r}", "precision is 'declared' or 'full'")
    return str(value)


def _custom_kernel(source: Source, key: str, value: Any) -> bool | float:
    if isinstance(value, bool):
        return value
    share = _bound(source, key, value)
    if share > 1:
        raise _fault(source, f"{key} is {value!r}", f"{key} is True, False or a share of the time up to 1")
    return share


def _check(source: Source, key: str, value: Any) -> Callable[..., Any]:
    if not callable(value):
        raise _fault(source, f"check is {value!r}", "check is a function of inputs and outputs")
    return value  # type: ignore[no-any-return]


def _timeout(source: Source, key: str, value: Any) -> dict[str, float]:
    given = value if isinstance(value, dict) else {"total": value}
    for stage, seconds in given.items():
        if stage not in STAGES:
            raise _fault(source, f"timeout names {stage!r}", f"stages are {', '.join(STAGES)}")
        _bound(source, f"timeout of {stage}", seconds)
    return {stage: float(seconds) for stage, seconds in given.items()}


def _lint(source: Source, key: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(reason, str) and reason for reason in value.values()):
        raise _fault(source, f"{key} is {value!r}", "lint is a dict: a check, and the reason why it need not pass")
    unknown = [name for name in value if name not in LINT_CHECKS]
    if unknown:
        raise _fault(source, f"{key} names {unknown[0]!r}", f"checks are {', '.join(LINT_CHECKS)}")
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
