"""Turns the table of settings into command-line options, each also read from the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from kbench.errors import UsageFault
from kbench.options import Option
from kbench.records import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

USUAL_WORKLOAD = "cpu on the CPU where there is one, else default"
root_option = click.option(
    "--root",
    metavar="FOLDER",
    help="The folder that holds problems/ and solutions/.  [KBENCH_ROOT, else the nearest above that has problems/]",
)


def settings_options(options: Iterable[Option]) -> Callable[[Command], Command]:
    """Decorates a command with an option for each; absent ones arrive as None."""

    def decorate(command: Command) -> Command:
        for option in reversed(list(options)):
            command = _decorator(option)(command)
        return command

    return decorate


def given(values: dict[str, Any], options: Iterable[Option]) -> dict[str, Any]:
    """Takes the settings out of a command's arguments: those that were given, by their names."""
    found = {option.name: values.pop(option.field) for option in options}
    return {name: value for name, value in found.items() if value is not None}


def _decorator(option: Option) -> Callable[[Command], Command]:
    return click.option(
        f"--{option.name}",
        option.field,
        multiple=option.many,
        is_flag=option.kind == "flag",
        default=None,
        envvar=option.variable,
        metavar=None if option.kind == "flag" else _metavar(option),
        help=_help(option),
        callback=None if option.kind == "flag" else _reader(option),
    )


def _reader(option: Option) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def read(context: click.Context, parameter: click.Parameter, texts: Any) -> Any:
        try:
            if not option.many:
                return None if texts is None else option.value(texts)
            values = [option.value(text) for text in texts or ()]
        except ValueError as error:
            raise UsageFault(f"{_source(context, option)}: {error}", f"see {context.command_path} --help") from None
        if not values:
            return None
        return dict(values) if option.kind == "seconds" else tuple(dict.fromkeys(values))

    return read


def _source(context: click.Context, option: Option) -> str:
    """How it was given: as an option or in the environment."""
    from_environment = context.get_parameter_source(option.field) is click.core.ParameterSource.ENVIRONMENT
    return option.variable if from_environment else f"--{option.name}"


def _metavar(option: Option) -> str:
    if option.metavar:
        return option.metavar
    if option.choices:
        return "[" + "|".join(option.choices) + "]"
    return {"count": "N", "number": "NUMBER", "word": "NAME", "words": "NAME", "seconds": "STAGE=SECONDS"}[option.kind]


def _help(option: Option) -> str:
    default = option.shown or getattr(Settings(), option.field, None)
    said = "" if default in (None, False, (), {}) else f"  [{default}]"
    return f"{option.help}{said}"
