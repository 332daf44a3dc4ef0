"""Finds the line of a compiler's output that matters, says it in a sentence, and points at the solution's own line."""

from __future__ import annotations

import re

from kbench.build.hints import hint_for
from kbench.protocol import BuildAsk
from kbench.records import BuildError, Record

# gcc: `file:line:column: error: text`; nvcc: `file(line): error: text`; ptxas: `ptxas file, line 12; error : text`.
PLACED = re.compile(
    r"^(?:ptxas )?(?P<file>[^\s:(][^:(\n]*?)(?::(?P<line>\d+)(?::(?P<column>\d+))?|\((?P<cuda_line>\d+)\)"
    r"|, line (?P<ptx_line>\d+)):?;?\s*(?:fatal )?error\s*(?:#[\w-]+)?\s*: (?P<what>.+)$",
    re.M,
)
LOOSE = re.compile(r"^(?P<where>[^\n]*?)\b(?:fatal )?error\s*(?:#[\w-]+)?\s*: (?P<what>.+)$", re.M)
UNRESOLVED = re.compile(r"undefined (?:reference to|symbol:?)\s*[`']?(?P<symbol>[^'`\n]+)")
FLAG = re.compile(r"^error: the flag '(?P<flag>[^'\n]+)' (?P<why>.+)$", re.M)
STANDARD = re.compile(r"#error.*C\+\+(\d\d)")
# Lines that only pass on what another line said, or that ninja and the drivers add.
ECHOES = re.compile(r"ld returned \d|errors? detected in the compilation|^Error building extension")
BINDING = re.compile(r'm\.def\("(\w+)", ')
GENERATED = ("main.cpp", "cuda.cu")
NEIGHBOURS = 3
MAX_WHAT = 400


class Found(Record, frozen=True):
    """An error as the compiler printed it."""

    what: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    flag: str | None = None  # the flag that is at fault


def first_error(log: str) -> str:
    """One sentence for a failed build, hint included."""
    found = find(log)
    where = f"{found.file.rsplit('/', 1)[-1]}:{found.line}: " if found.file and found.line else ""
    hint = hint_for(found.what, log)
    return f"{where}{found.what}" + (f" ({hint})" if hint else "")


def explain(log: str, ask: BuildAsk, solution: dict[str, str]) -> BuildError:
    """The first error that matters, where `solution` holds the text of each of the solution's files by name."""
    found = find(log)
    hint = hint_for(found.what, log)
    place = _place(found, ask, solution)
    if place is None:
        where = f"{found.file.rsplit('/', 1)[-1]}:{found.line}: " if found.file and found.line else ""
        return BuildError(message=where + found.what, hint=hint)
    file, line = place
    code = solution[file].splitlines()[line - 1]
    column = _column(found, code, _line_of(found, ask), log)
    return BuildError(message=found.what, hint=hint, file=file, line=line, column=column, code=code)


def find(log: str) -> Found:
    """The first error in a log that is none of those which only follow from others."""
    standard = STANDARD.search(log)
    if standard:
        what = f"torch's headers need C++{standard[1]}; remove the older -std flag from the solution's flags"
        given = FLAG.search(log)
        return Found(what, flag=given["flag"] if given else None)
    refused = FLAG.search(log)
    if refused:
        return Found(f"the flag {refused['flag']!r} {refused['why'].strip()}", flag=refused["flag"])
    for match in PLACED.finditer(log):
        if not ECHOES.search(match[0]):
            line = match["line"] or match["cuda_line"] or match["ptx_line"]
            column = int(match["column"]) if match["column"] else None
            return Found(match["what"].strip()[:MAX_WHAT], match["file"], int(line), column)
    unresolved = UNRESOLVED.search(log)
    if unresolved:
        return Found(f"unresolved symbol {unresolved['symbol'].strip()}"[:MAX_WHAT])
    for match in LOOSE.finditer(log):
        if not ECHOES.search(match[0]):
            return Found(match["what"].strip()[:MAX_WHAT])
    lines = [line for line in log.splitlines() if line.strip()]
    return Found(lines[-1].strip()[:MAX_WHAT] if lines else "the compiler ended without a message")


def _place(found: Found, ask: BuildAsk, solution: dict[str, str]) -> tuple[str, int] | None:
    """File and line of the solution's own that the compiler's place stands for."""
    if found.flag:
        return _naming(found.flag, solution)
    if not found.file or not found.line:
        return None
    own = next((name for name in solution if found.file.endswith("/" + name)), None)
    if own and found.line <= len(solution[own].splitlines()):
        return own, found.line
    compiled = _compiled(found.file, ask)
    binding = BINDING.match(compiled[found.line - 1]) if found.line <= len(compiled) else None
    if binding:
        return _naming(binding[1], solution)
    matches = [(name, line) for name, text in solution.items() if (line := _same_line(compiled, found.line, text))]
    return matches[0] if matches else None


def _naming(name: str, solution: dict[str, str]) -> tuple[str, int] | None:
    """The one line that has a name between quotes, as `functions` and flags do."""
    named = re.compile(rf"[\"']{re.escape(name)}[\"']")
    lines = [
        (file, i + 1)
        for file, text in solution.items()
        for i, line in enumerate(text.splitlines())
        if named.search(line)
    ]
    return lines[0] if len(lines) == 1 else None


def _line_of(found: Found, ask: BuildAsk) -> str | None:
    """The text that the compiler read there."""
    lines = _compiled(found.file or "", ask)
    return lines[found.line - 1] if found.line and found.line <= len(lines) else None


def _compiled(file: str, ask: BuildAsk) -> list[str]:
    """The lines of a file that torch wrote from strings, or of one that came along."""
    name = file.rsplit("/", 1)[-1]
    if ask.kind == "inline" and name in GENERATED:
        implicit = [] if ask.no_implicit_headers else ["#include <torch/extension.h>"]
        if name == "cuda.cu":
            implicit = [] if ask.no_implicit_headers else ["#include"] * 3
        parts = (*ask.cpp_sources, *_bindings(ask)) if name == "main.cpp" else ask.cuda_sources
        return "\n".join((*implicit, *parts)).split("\n")
    return next((text.splitlines() for path, text in ask.files.items() if path.endswith(name)), [])


def _bindings(ask: BuildAsk) -> list[str]:
    """What torch appends where `functions` are given, one line each."""
    if ask.functions is None:
        return []
    return ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *(f'm.def("{name}", ' for name in ask.functions)]


def _same_line(compiled: list[str], number: int, text: str) -> int | None:
    """The line of `text` that reads the same and whose neighbours do too; None where none or several fit best."""
    if not 0 < number <= len(compiled) or not compiled[number - 1].strip():
        return None
    code, lines = compiled[number - 1].strip(), text.splitlines()
    # A source of one line stands between quotes, so it is only part of its line.
    candidates = [i for i, line in enumerate(lines) if line.strip() == code]
    candidates = candidates or [i for i, line in enumerate(lines) if len(code) > 5 and code in line]
    wanted = _around(compiled, number - 1)
    scores = [(sum(a == b for a, b in zip(_around(lines, i), wanted, strict=True)), i + 1) for i in candidates]
    best = max(scores, default=(0, 0))
    return best[1] if sum(score == best[0] for score, _ in scores) == 1 else None


def _around(lines: list[str], index: int) -> list[str]:
    span = range(index - NEIGHBOURS, index + NEIGHBOURS + 1)
    return [lines[i].strip() if 0 <= i < len(lines) else "" for i in span]


def _column(found: Found, code: str, compiled: str | None, log: str) -> int | None:
    """Where the caret goes, from 1: the compiler's column, or the caret that nvcc drew under the line."""
    if found.flag:
        return code.find(found.flag) + 1 or None
    shown = code.strip() if compiled is None else compiled
    binding = BINDING.match(shown)
    if binding:
        return code.find(binding[1]) + 1 or None
    shift = max(code.find(shown.strip()), 0) - (len(shown) - len(shown.lstrip()))
    if found.column:
        return max(1, min(found.column + shift, len(code) + 1))
    if not shown.strip():
        return None
    drawn = re.search(rf"^(?P<indent> *){re.escape(shown.strip())} *\n(?P<caret> *)\^", log, re.M)
    if not drawn:
        return None
    return len(drawn["caret"]) - len(drawn["indent"]) + max(code.find(shown.strip()), 0) + 1
