"""Numbers as people read them."""

from __future__ import annotations

import re


def duration(ms: float) -> str:
    """`0.0123` -> `12.3 us`; three significant digits in the unit that suits."""
    for limit, factor, unit in ((1.0, 1e3, "us"), (1e3, 1.0, "ms")):
        if abs(ms) < limit:
            return f"{_three(ms * factor)} {unit}"
    return f"{_three(ms / 1e3)} s"


def duration_interval(low_ms: float, high_ms: float, like_ms: float) -> str:
    """Both ends in the unit that `like_ms` is shown in: `[3.19, 3.24]`."""
    factor = 1e3 if abs(like_ms) < 1.0 else 1.0 if abs(like_ms) < 1e3 else 1e-3
    return f"[{_three(low_ms * factor)}, {_three(high_ms * factor)}]"


def size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TB" if count < 1024 else f"{count:.1e} TB"


def scaled(count: float) -> str:
    """`2.2e12` -> `2.2 T`, for counts that are no bytes."""
    for unit in ("", "K", "M", "G", "T"):
        if abs(count) < 1000:
            return f"{_three(count)} {unit}".rstrip()
        count /= 1000
    return f"{_three(count)} P"


def parse_bytes(text: str) -> int:
    """`20GB`, `512 MiB` or a plain count; a ValueError for anything else."""
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(?:i?b)?\s*", text, re.I)
    if not found:
        raise ValueError(text)
    return int(float(found[1]) * 1024 ** ("", "k", "m", "g", "t").index(found[2].lower()))


def printable(text: str) -> str:
    """One line with nothing in it that a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _three(value: float) -> str:
    magnitude = abs(value)
    if magnitude >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if magnitude >= 10 else f"{value:.2f}"
