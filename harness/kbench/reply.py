"""Takes the code out of a language model's reply.

With fences: the last block that defines the entry, also when its fence is never closed. Without: the longest
run of lines that parses after dedenting and defines it, the last of equals.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from kbench.records import Record

FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})(.*)$")
MAX_LINES = 20_000


class Code(Record, frozen=True):
    text: str
    first_line: int  # 1-based, in the reply
    last_line: int


class Miss(Record, frozen=True):
    """Why no code could be taken, with the nearest miss where there is one."""

    reason: str


def extract(reply: str, entries: tuple[str, ...]) -> Code | Miss:
    lines = reply.splitlines()[:MAX_LINES]
    blocks = list(_blocks(lines))
    defining = [block for block in blocks if _mentions(block.text, entries)]
    for block in reversed(defining):
        if _defines(block.text, entries):
            return block
    if blocks:
        return _fence_miss(blocks, defining, entries)
    return _longest_run(lines, entries) or _plain_miss(lines, entries)


def _blocks(lines: list[str]) -> Iterator[Code]:
    start, mark = None, ""
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if not fence:
            continue
        if start is None:
            start, mark = number + 1, fence[2]
        elif fence[2].startswith(mark) and not fence[3].strip():
            yield _code(lines, start, number)
            start = None
    if start is not None:
        yield _code(lines, start, len(lines))


def _code(lines: list[str], start: int, end: int) -> Code:
    return Code(
        text=textwrap.dedent("\n".join(lines[start:end])) + "\n",
        first_line=start + 1,
        last_line=max(end, start + 1),
    )


def _longest_run(lines: list[str], entries: tuple[str, ...]) -> Code | None:
    best: Code | None = None
    for header in _class_lines(lines, entries):
        code = _run_around(lines, header)
        if code and _defines(code.text, entries) and (best is None or _length(code) >= _length(best)):
            best = code
    return best


def _run_around(lines: list[str], header: int) -> Code | None:
    """The longest parsing run that holds the line: grown downwards first, then upwards.

    Only ends that sit between statements need a try, so the search jumps from one line at the class's own
    indentation to the next instead of trying every pair of lines.
    """
    indent = _indent(lines[header])
    end = _last_parsing_end(lines, header, indent)
    if end is None:
        return None
    start = _first_parsing_start(lines, header, end, indent)
    return _code(lines, *_trimmed(lines, start, end))


def _last_parsing_end(lines: list[str], header: int, indent: int) -> int | None:
    best: int | None = None
    for end in range(header + 2, len(lines) + 1):
        at_boundary = end == len(lines) or not lines[end].strip() or _indent(lines[end]) <= indent
        if not at_boundary:
            continue
        if _parses(lines, header, end):
            best = end
        elif best is not None and end < len(lines) and lines[end - 1].strip() and not _still_open(lines, header, end):
            break
    return best


def _first_parsing_start(lines: list[str], header: int, end: int, indent: int) -> int:
    best, misses = header, 0
    for start in range(header - 1, -1, -1):
        if lines[start].strip() and _indent(lines[start]) != indent:
            continue
        if _parses(lines, start, end):
            best, misses = start, 0
        else:
            misses += 1
            # A triple-quoted string above parses only once its opening line is in: look that far and no further.
            if misses > 400:
                break
    return best


def _still_open(lines: list[str], start: int, end: int) -> bool:
    text = "\n".join(lines[start:end])
    return text.count('"""') % 2 == 1 or text.count("'''") % 2 == 1


def _trimmed(lines: list[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _parses(lines: list[str], start: int, end: int) -> bool:
    return _tree(textwrap.dedent("\n".join(lines[start:end]))) is not None


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defines(text: str, entries: tuple[str, ...]) -> bool:
    tree = _tree(text)
    return tree is not None and any(_binds(statement, entries) for statement in tree.body)


def _binds(statement: ast.stmt, entries: tuple[str, ...]) -> bool:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return statement.name in entries
    if isinstance(statement, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id in entries for target in statement.targets)
    return False


def _mentions(text: str, entries: tuple[str, ...]) -> bool:
    return any(re.search(rf"\b{re.escape(entry)}\b", text) for entry in entries)


def _class_lines(lines: list[str], entries: tuple[str, ...]) -> list[int]:
    pattern = re.compile(rf"^\s*(?:class|def)\s+(?:{'|'.join(map(re.escape, entries))})\b")
    return [number for number, line in enumerate(lines) if pattern.match(line)]


def _fence_miss(blocks: list[Code], defining: list[Code], entries: tuple[str, ...]) -> Miss:
    if not defining:
        return Miss(reason=f"none of the {len(blocks)} code blocks of the reply defines {entries[0]}")
    block = defining[-1]
    try:
        ast.parse(block.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = block.first_line + (getattr(error, "lineno", None) or 1) - 1
        message = getattr(error, "msg", str(error))
        return Miss(reason=f"the block at line {block.first_line} does not parse: line {line}: {message}")
    return Miss(reason=f"the block at line {block.first_line} names {entries[0]} but does not define it")


def _plain_miss(lines: list[str], entries: tuple[str, ...]) -> Miss:
    headers = _class_lines(lines, entries)
    if headers:
        return Miss(reason=f"{entries[0]} at line {headers[-1] + 1} of the reply does not parse as Python")
    mentions = [n for n, line in enumerate(lines) if _mentions(line, entries)]
    if mentions:
        return Miss(reason=f"the reply never defines {entries[0]}; line {mentions[-1] + 1} only mentions it")
    return Miss(reason=f"the reply holds no code block and never names {entries[0]}")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _length(code: Code) -> int:
    return code.last_line - code.first_line
