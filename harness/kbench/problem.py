"""A problem file: `Model`, `get_inputs`, `get_init_inputs` and optional `KBENCH` settings.

The format is KernelBench's, unchanged. A workload replaces top-level constants while the file executes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from kbench import module
from kbench.errors import ProblemFault, UsageFault
from kbench.options import nearest
from kbench.records import Record

MODULE_NAME = "kbench_problem"
REQUIRED = ("Model", "get_inputs")


class Source(Record, frozen=True):
    """A problem file as text, before anything of it runs."""

    path: str
    id: str
    text: str
    sha256: str


def read(path: Path, id: str) -> Source:
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
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
        raise fault(source, "KBENCH is computed, not written out", "write KBENCH = dict(...), for sweeps to read it")
    lists = [key for key in Outline.__struct_fields__ if key != "grad"]
    found = {key: module.names_in(entries[key]) for key in lists if key in entries}
    hidden = [key for key, names in found.items() if names is None]
    if hidden:
        raise fault(source, f"{hidden[0]} in KBENCH is computed, not written out", "write its names out")
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


def choose_workloads(known: tuple[str, ...], asked: tuple[str, ...], device_kind: str, id: str) -> list[str]:
    """The names to run. Without a wish: `cpu` on the CPU where there is one, else `default`."""
    known = known or ("default",)
    if "all" in asked:
        return list(known)
    for name in asked:
        if name not in known:
            hint = nearest(name, known)
            raise UsageFault(f"{id} has no workload {name!r}{hint}", f"workloads are {', '.join(known)}")
    if asked:
        return list(dict.fromkeys(asked))
    if device_kind == "cpu" and "cpu" in known:
        return ["cpu"]
    return ["default"]


def fault(source: Source, what: str, fix: str) -> ProblemFault:
    """One that names the file."""
    return ProblemFault(f"{source.path}: {what}", fix)
