"""The JSON schema of a configuration, made from the same table that reads it."""

from __future__ import annotations

from typing import Any

from kbench.options import Option
from kbench.settings import OPTIONS
from kbench.sweep.config import MATRIX


def config_schema() -> dict[str, Any]:
    settings = {option.name: _of(option) for option in OPTIONS}
    matrix = {option.name: _of(option) for option in MATRIX}
    one_set = {"folder": {"type": "string"}, "samples": matrix["samples"]}
    sets = {"oneOf": [{"type": "string"}, _object(one_set) | {"required": ["folder"]}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A sweep of kbench run",
        **_object(
            {
                **matrix,
                **settings,
                "sets": _mapping(sets, "Named sets of solutions: folders that mirror problems/."),
                "overrides": _mapping(_object({**settings, "workload": matrix["workload"]}), "Settings by problem."),
            }
        ),
    }


def _of(option: Option) -> dict[str, Any]:
    told = {"description": option.help}
    if option.kind == "seconds":
        return told | _object({stage: _bounds(option) | {"type": "number"} for stage in option.choices})
    if option.kind in ("word", "words"):
        item: dict[str, Any] = {"type": "string"} | ({"enum": list(option.choices)} if option.choices else {})
        return told | ({"oneOf": [item, {"type": "array", "items": item}]} if option.kind == "words" else item)
    kinds = {"count": "integer", "number": "number", "flag": "boolean"}
    return told | _bounds(option) | {"type": kinds[option.kind]}


def _bounds(option: Option) -> dict[str, Any]:
    bounds = {("exclusiveMinimum" if option.above else "minimum"): option.least, "maximum": option.most}
    return {name: value for name, value in bounds.items() if value is not None}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _mapping(values: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "description": description, "additionalProperties": values}
