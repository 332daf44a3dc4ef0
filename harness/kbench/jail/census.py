"""Which processes there are in a jail, and what memory they take."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def descendants(root: int) -> list[int]:
    found: list[int] = []
    pending = [root]
    while pending:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{pending[-1]}/task/{pending[-1]}/children").read_text().split()
            pending[:0] = map(int, children)
            found += map(int, children)
        pending.pop()
    return found


def private_bytes(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * PAGE
