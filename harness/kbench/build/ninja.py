"""The build.ninja that torch writes, as text: read, bent to the light headers, run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

TORCH_LIBRARIES = ("c10", "c10_cuda", "torch_cpu", "torch_cuda", "torch", "torch_python")
VERBOSE_PTXAS = "-Xptxas -v"


class Failed(Exception):
    """A command of the build failed; the text is what it printed."""


def run(folder: Path, text: str, jobs: int) -> str:
    """Builds what `text` says in `folder`; what the commands printed."""
    (folder / "build.ninja").write_text(text)
    done = subprocess.run(
        ["ninja", "-v", "-j", str(jobs)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise Failed(done.stdout)
    return done.stdout


def with_usage(text: str) -> str:
    """Has ptxas say what each kernel uses."""
    return re.sub(r"^(cuda_cflags = .*)$", rf"\1 {VERBOSE_PTXAS}", text, flags=re.M)


def light(text: str, torch_include: str, include: str, glue: str, wants_cublas: bool) -> str:
    """The same build with `include` in the place of torch's headers and `glue` in that of its libraries."""

    def compiling(match: re.Match[str]) -> str:
        line = re.sub(rf"-isystem {re.escape(torch_include)}(?=\s|$)", f"-isystem {include}", match[0])
        return re.sub(rf"-isystem {re.escape(torch_include)}/\S+", "", line)

    def linking(match: re.Match[str]) -> str:
        mine = [token for token in match[0].split(" ") if token not in {f"-l{name}" for name in TORCH_LIBRARIES}]
        more = ["-Wl,--push-state,--as-needed", "-lcublas", "-lcublasLt", "-Wl,--pop-state"] if wants_cublas else []
        # Whatever else of torch it refers to must be missing here and now, not when it is loaded.
        return " ".join([*mine, glue, *more, "-Wl,-z,defs"])

    text = re.sub(r"^(cflags|cuda_cflags) = .*$", compiling, text, flags=re.M)
    return re.sub(r"^ldflags = .*$", linking, text, flags=re.M)
