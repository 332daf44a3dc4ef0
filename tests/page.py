"""Puts what a script makes into a page, between two marks."""

from __future__ import annotations

END = "<!-- until here -->"


def filled(text: str, begin: str, made: str) -> str:
    """The page with what is made in its place, after `begin` and before the next end."""
    before, rest = text.split(begin)
    return f"{before}{begin}\n\n{made}\n\n{END}{rest.split(END, 1)[1]}"
