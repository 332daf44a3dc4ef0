"""Device code of an artifact, as something to compare: each kernel's instructions, whatever it is called."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path


def functions(artifact: bytes) -> list[tuple[str, ...]]:
    """The instructions and encodings of every kernel, in an order that does not depend on names."""
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(artifact)
        file.flush()
        text = subprocess.run([_tool(), "-sass", file.name], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^\s*Function : .*$", text, flags=re.M)[1:]
    return sorted(tuple(_code(part)) for part in parts)


def difference(a: list[tuple[str, ...]], b: list[tuple[str, ...]]) -> str:
    """The first two lines that differ, for people."""
    if len(a) != len(b):
        return f"{len(a)} against {len(b)} kernels"
    pairs = [pair for one, other in zip(a, b, strict=True) for pair in zip(one, other, strict=False)]
    return next((f"{x} | {y}" for x, y in pairs if x != y), "lengths")


def _code(part: str) -> list[str]:
    return [_without_place(line.strip()) for line in part.splitlines() if line.lstrip().startswith("/*")]


def _without_place(line: str) -> str:
    """Where the linker puts a global constant depends on what other constants the headers bring along."""
    if "c[0x4]" not in line:
        return line
    return re.sub(r"/\* 0x[0-9a-f]+ \*/$", "", re.sub(r"c\[0x4\]\[0x[0-9a-f]+\]", "c[0x4][]", line)).strip()


def _tool() -> str:
    beside = Path("/usr/local/cuda/bin/cuobjdump")
    return str(beside) if beside.exists() else "cuobjdump"
