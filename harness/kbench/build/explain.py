"""Finds the line of a compiler's output that matters, says it in a sentence, and points at the solution's own line."""

from __future__ import annotations

import re

from kbench.build.hints import hint_for
from kbench.protocol import BuildAsk
from kbench.records import BuildError, Record

# gcc: `file:line:column: error: text`; nvcc: `file(line): error: text`; ptxas: `ptxas file, line 12; error : text`.
# Each is matched against one line, cut short: the text is the solution's to choose.
PLACED = re.compile(
    r"^(?:ptxas )?(?P<file>[^\s:(][^:(]{0,1000}?)"
    r"(?::(?P<line>\d{1,8})(?::(?P<column>\d{1,8}))?|\((?P<cuda_line>\d{1,8})\)|, line (?P<ptx_line>\d{1,8}))"
    r":?;? {0,9}(?:fatal )?[eE]rror {0,9}(?:#[\w-]{1,20})? {0,9}: (?P<what>.+)$"
)
LOOSE = re.compile(r"\b(?:fatal )?error {0,9}(?:#[\w-]{1,20})? {0,9}: (?P<what>.+)$|^nvcc fatal +: (?P<nvcc>.+)$")
LINKER = re.compile(r"\bld(?:\.\w+)?: (?P<what>cannot (?:find|open) .+)$")
UNRESOLVED = re.compile(r"undefined (?:reference to|symbol:?) ?[`']?(?P<symbol>[^'`]+)")
FLAG = re.compile(r"^error: the flag '(?P<flag>[^']+)' (?P<why>.+)$")
STANDARD = re.compile(r"#error C\+\+(\d\d) or later compatible compiler")
# Lines that only pass on what another line said, or that ninja and the drivers add.
ECHOES = re.compile(r"ld returned \d|errors? detected in the compilation|^Error building extension|^ninja: ")
MAX_LINE = 2000
MAX_LINES = 4000
BINDING = re.compile(r'm\.def\("(\w+)", ')
GENERATED = ("main.cpp", "cuda.cu")
NEIGHBOURS = 3
MAX_WHAT = 400
MAX_LOG = 256 * 1024


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
    return sentence(_unplaced(found, hint_for(found.what, log)))


def sentence(error: BuildError) -> str:
    """Where, what, and what to do about it."""
    where = f"{error.file}:{error.line}: " if error.file else ""
    return f"{where}{error.message}" + (f" ({error.hint})" if error.hint else "")


def explain(log: str, ask: BuildAsk, solution: dict[str, str]) -> BuildError:
    """The first error that matters, where `solution` holds the text of each of the solution's files by name."""
    found = find(log)
    hint = hint_for(found.what, log)
    place = _place(found, ask, solution)
    if place is None:
        return _unplaced(found, hint)
    file, line = place
    code = solution[file].splitlines()[line - 1]
    column = _column(found, code, _line_of(found, ask), log)
    return BuildError(message=found.what, hint=hint, file=file, line=line, column=column, code=code)


def _unplaced(found: Found, hint: str | None) -> BuildError:
    """An error in no file of the solution's: the compiler's own place is part of the message."""
    where = f"{found.file.rsplit('/', 1)[-1]}:{found.line}: " if found.file and found.line else ""
    return BuildError(message=where + found.what, hint=hint)


def find(log: str) -> Found:
    """The first error in a log that is none of those which only follow from others."""
    lines = [
        line[:MAX_LINE] for line in log.splitlines()[:MAX_LINES] if line.strip() and not ECHOES.search(line[:MAX_LINE])
    ]
    for look in (_flag, _standard, _placed, _linked, _loose):
        for line in lines:
            found = look(line, lines)
            if found:
                return found
    return Found(lines[-1].strip()[:MAX_WHAT] if lines else "the compiler ended without a message")


def _flag(line: str, lines: list[str]) -> Found | None:
    match = FLAG.match(line)
    if match is None:
        return None
    standard = next((said for other in lines if (said := _standard(other, lines))), None)
    return Found(
        standard.what if standard else f"the flag {match['flag']!r} {match['why'].strip()}", flag=match["flag"]
    )


def _standard(line: str, _: list[str]) -> Found | None:
    match = STANDARD.search(line)
    what = "torch's headers need C++{}; remove the older -std flag from the solution's flags"
    return Found(what.format(match[1])) if match else None


def _placed(line: str, _: list[str]) -> Found | None:
    match = PLACED.match(line)
    if match is None:
        return None
    number = int(match["line"] or match["cuda_line"] or match["ptx_line"])
    return Found(
        match["what"].strip()[:MAX_WHAT], match["file"], number, int(match["column"]) if match["column"] else None
    )


def _linked(line: str, _: list[str]) -> Found | None:
    unresolved, missing = UNRESOLVED.search(line), LINKER.search(line)
    if unresolved:
        return Found(f"unresolved symbol {unresolved['symbol'].strip()}"[:MAX_WHAT])
    return Found(missing["what"].strip()[:MAX_WHAT]) if missing else None


def _loose(line: str, _: list[str]) -> Found | None:
    match = LOOSE.search(line)
    return Found((match["what"] or match["nvcc"]).strip()[:MAX_WHAT]) if match else None


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
    text = re.escape(shown.strip()[:MAX_LINE])
    drawn = re.search(rf"^(?P<indent> {{0,200}}){text} *\n(?P<caret> *)\^", log[:MAX_LOG], re.M)
    if not drawn:
        return None
    return len(drawn["caret"]) - len(drawn["indent"]) + max(code.find(shown.strip()), 0) + 1
