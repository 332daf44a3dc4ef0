"""The options of one evaluation: how each is called everywhere, what it may be, and its default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbench.errors import UsageFault
from kbench.options import Option
from kbench.records import BuildMode, Settings, Stage

__all__ = ["DEADLINES", "OPTIONS", "Settings", "checked", "deadlines", "fields"]

STAGES: tuple[Stage, ...] = ("load", "build", "first-call", "call", "total")
DEADLINES: dict[str, dict[str, float]] = {
    "cpu": {"load": 30, "build": 300, "first-call": 60, "call": 20, "total": 240},
    "cuda": {"load": 60, "build": 300, "first-call": 120, "call": 20, "total": 600},
}
# What a build may wait beside its own compilation: for the same build or a slot elsewhere, and for the glue.
BUILD_WAIT_S = 300.0
GLUE_TIMEOUT_S = 240.0
LONGEST_WAIT_S = GLUE_TIMEOUT_S + 2 * BUILD_WAIT_S
EAGER = "eager"
# How torch.compile is told to make each of the compiled ones.
COMPILED: dict[str, str | None] = {"compile": None, "compile-max-autotune": "max-autotune"}
BASELINES = (EAGER, *COMPILED)
BUILD_MODES: tuple[BuildMode, ...] = ("auto", "light", "full")
ENTRIES = ("ModelNew", "Model")  # what a solution may call its model, the first that it has
MAX_SEED = 2**63 - 1

BUILD_HELP = "Against light headers (seconds), torch's own (a minute), or light where that works."
OPTIONS: tuple[Option, ...] = (
    Option("trials", "trials", "count", "Checks on fresh inputs.", least=1),
    Option(
        "budget",
        "budget_s",
        "number",
        "Timed work, both sides together.",
        least=0,
        above=True,
        metavar="SECONDS",
    ),
    Option("baseline", "baselines", "words", "Repeatable.", BASELINES, shown="the problem's, else eager"),
    Option("atol", "atol", "number", "Absolute tolerance, instead of the problem's.", least=0),
    Option("rtol", "rtol", "number", "Relative tolerance, instead of the problem's.", least=0),
    Option(
        "timeout",
        "timeouts",
        "seconds",
        f"Stages: {', '.join(STAGES)}.",
        STAGES,
        least=0,
        above=True,
        metavar="STAGE=SECONDS",
    ),
    Option("build", "build", "word", BUILD_HELP, BUILD_MODES),
    Option("entry", "entry", "word", "The solution's class.", metavar="CLASS", shown="ModelNew, else Model"),
    Option("processes", "processes", "count", "Repeat in so many fresh workers.", least=1, most=64),
    Option("require-jail", "require_jail", "flag", "Exit 3 where a layer of the jail cannot be had."),
)
SEED = Option("seed", "seed", "count", "Use these secret seeds, to reproduce a failure.", least=0, most=MAX_SEED)


def checked(settings: Settings) -> Settings:
    """The settings, or a UsageFault that names the first one that cannot be."""
    for option in (*OPTIONS, SEED):
        complaint = option.complaint(getattr(settings, option.field))
        if complaint:
            raise UsageFault(f"--{option.name}: {complaint}", "see kbench eval --help")
    return settings


def fields(named: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by name as the fields of `Settings`."""
    return {option.field: named[option.name] for option in OPTIONS if option.name in named}


def deadlines(settings: Settings, kind: str, of_problem: Mapping[str, float] | None = None) -> dict[str, float]:
    """Seconds per stage: the defaults, overridden by the problem's `timeout`, then by the user."""
    return {**DEADLINES[kind], **(of_problem or {}), **settings.timeouts}
