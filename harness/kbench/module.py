"""Turns Python source into a module: with constants replaced while it executes, and tracebacks cut to its frames."""

from __future__ import annotations

import ast
import sys
import traceback
from types import ModuleType, TracebackType
from typing import Any

OVERRIDES = "__kbench_overrides__"


def execute(source: str, filename: str, name: str, overrides: dict[str, Any] | None = None) -> ModuleType:
    """A module made from `source`, registered under `name` so that pickling and dataclasses find it."""
    module = ModuleType(name)
    module.__file__ = filename
    tree = ast.parse(source, filename)
    if overrides:
        tree = _with_overrides(tree, overrides)
        setattr(module, OVERRIDES, overrides)
    sys.modules[name] = module
    exec(compile(tree, filename, "exec"), module.__dict__)
    return module


def constants(source: str, filename: str) -> set[str]:
    """The names that top-level assignments bind."""
    return {name for statement in ast.parse(source, filename).body for name in _bound(statement)}


def written(source: str, name: str) -> dict[str, ast.expr] | None:
    """The entries of a dict that is written out at the top level; empty without one, None where it is computed."""
    values = [
        statement.value
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and name in _bound(statement) and statement.value
    ]
    return _entries(values[-1]) if values else {}


def names_in(value: ast.expr) -> tuple[str, ...] | None:
    """The strings of a list, the keys of a dict; None where they are computed."""
    entries = _entries(value)
    if entries is not None:
        return tuple(entries)
    try:
        found = ast.literal_eval(value)
    except ValueError:
        return None
    listed = [found] if isinstance(found, str) else found
    if not isinstance(listed, list | tuple | set) or not all(isinstance(one, str) for one in listed):
        return None
    return tuple(listed)


def is_true(value: ast.expr | None) -> bool:
    """Whether it is written out as True."""
    return isinstance(value, ast.Constant) and value.value is True


def own_traceback(error: BaseException, folder: str) -> str:
    """The traceback from the first frame below `folder` on; whole where there is none."""
    frame: TracebackType | None = error.__traceback__
    while frame and not frame.tb_frame.f_code.co_filename.startswith(folder):
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame or error.__traceback__, chain=False))


def _with_overrides(tree: ast.Module, overrides: dict[str, Any]) -> ast.Module:
    # Each assignment is kept and followed by one of ours: tuple targets and annotations need no special case,
    # and what is derived from the constant further down follows it.
    body: list[ast.stmt] = []
    for statement in tree.body:
        body.append(statement)
        body.extend(_replacement(statement, name) for name in _bound(statement) if name in overrides)
    return ast.Module(body=body, type_ignores=tree.type_ignores)


def _replacement(statement: ast.stmt, name: str) -> ast.stmt:
    new = ast.parse(f"{name} = {OVERRIDES}[{name!r}]").body[0]
    for node in ast.walk(new):
        ast.copy_location(node, statement)
    return new


def _entries(value: ast.expr) -> dict[str, ast.expr] | None:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        plain = not value.args and all(keyword.arg for keyword in value.keywords)
        return {keyword.arg or "": keyword.value for keyword in value.keywords} if plain else None
    if isinstance(value, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
        if all(isinstance(key, str) for key in keys):
            return {str(key): part for key, part in zip(keys, value.values, strict=True)}
    return None


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    else:
        return []
    nodes = (node for target in targets for node in ast.walk(target))
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
