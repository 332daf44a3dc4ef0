"""Finds the line of a compiler's output that matters and says it in one sentence."""

from __future__ import annotations

import re

ERROR = re.compile(r"^(?P<where>\S+?):?\s*(?:fatal )?error\s*(?:#\d+)?:\s*(?P<what>.+)$", re.M)
UNRESOLVED = re.compile(r"undefined (?:reference to|symbol:?)\s*[`']?(?P<symbol>[^'`\n]+)")
STANDARD = re.compile(r"#error.*C\+\+(\d\d)")

HINTS = (
    (
        re.compile(r"was not declared in this scope|is undefined"),
        "declare it in cpp_sources, or include its header",
    ),
    (re.compile(r"No such file or directory"), "the include is not to be found; check its name"),
    (re.compile(r"expected .{1,20} before|expected a"), "a syntax error in the source"),
)


def first_error(log: str) -> str:
    """One sentence for a failed build, hint included."""
    standard = STANDARD.search(log)
    if standard:
        return f"torch's headers need C++{standard[1]}; remove the older -std flag from the solution's flags"
    found = ERROR.search(log)
    if found:
        where = f"{found['where'].rsplit('/', 1)[-1].rstrip(':')}: " if found["where"] else ""
        what = found["what"].strip()
        hints = [hint for pattern, hint in HINTS if pattern.search(what)]
        return f"{where}{what}" + (f" ({hints[0]})" if hints else "")
    unresolved = UNRESOLVED.search(log)
    if unresolved:
        return f"unresolved symbol {unresolved['symbol'].strip()}"
    lines = [line for line in log.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "the compiler ended without a message"
