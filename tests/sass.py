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


def _code(part: str) -> list[str]:
    return [line.strip() for line in part.splitlines() if line.lstrip().startswith("/*")]


def _tool() -> str:
    beside = Path("/usr/local/cuda/bin/cuobjdump")
    return str(beside) if beside.exists() else "cuobjdump"
