"""What a solution's compiler flags ask for, judged before anything runs. Pure functions over text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

# Each makes a compiler run or load a program of the solution's choosing. The jail would hold it; saying no is clearer.
RUNS_PROGRAMS = re.compile(
    r"^(-wrapper|-fplugin|--?specs\b|-B(?!static|dynamic|symbolic|group)|-ccbin|--compiler-bindir|-no-integrated-cpp"
    r"|--?plugin\b|-iplugindir|--wrapper|-optf\b|--options-file|@)"
)
# nvcc and gcc take flags for other tools along inside of one of their own.
PASSED_ON = re.compile(r"^(-Xcompiler|--compiler-options|-Xlinker|--linker-options|-Wl|-Wp|-Wa|-Xptxas)[=,]?")
SHELL = re.compile(r"[;&|`<>\n\r]|\$\(")
STANDARD = re.compile(r"^--?std[= ]?(?:c|gnu)\+\+(\w\w)$")
YEARS = {"98": 1998, "03": 2003, "0x": 2011, "11": 2011, "1y": 2014, "14": 2014, "1z": 2017, "17": 2017}
YEARS |= {"2a": 2020, "20": 2020, "2b": 2023, "23": 2023, "2c": 2026, "26": 2026}


def refused(flags: Iterable[str]) -> str | None:
    """The sentence for the first flag that no build gets, or None."""
    given = list(flags)
    found = next((flag for flag in given if any(map(RUNS_PROGRAMS.match, _parts(flag)))), None)
    if found:
        return f"the flag {found!r} has the compiler run a program of the solution's choosing; remove it"
    # torch passes flags through a shell, where these would begin another command.
    found = next((flag for flag in given if SHELL.search(flag)), None)
    return found and f"the flag {found!r} holds characters for a shell; remove them"


def year(flags: Iterable[str]) -> int | None:
    """The C++ standard that these flags end up with, as its year."""
    found = [YEARS.get(match[1]) for flag in flags if (match := STANDARD.match(flag.strip()))]
    return found[-1] if found else None


def least_year(aten_header: str) -> int:
    """The oldest standard that ATen/ATen.h lets through."""
    found = re.search(r"__cplusplus < (\d{4})\d\dL", aten_header)
    return int(found[1]) if found else 2017


def torch_year(cpp_extension: str) -> int:
    """The standard that torch itself compiles extensions as, from the text of torch.utils.cpp_extension."""
    found = re.search(r"'-fPIC', '-std=c\+\+(\w\w)'", cpp_extension)
    return YEARS[found[1]] if found else 2017


def _parts(flag: str) -> list[str]:
    try:
        words = shlex.split(flag)  # as the shell will see it
    except ValueError:
        words = flag.split()
    for _ in range(3):
        words = [part for word in words for part in PASSED_ON.sub("", word).strip("'\"").split(",") if part]
    return words
