"""The light build: the same sources and flags, our stand-ins in the place of torch's headers."""

from __future__ import annotations

import re
from pathlib import Path

from kbench.build import explain, flags, ninja, standins
from kbench.protocol import BuildAsk

# What no stand-in will ever answer for; saying so costs nothing, finding out costs seconds.
OUTSIDE = {
    r"\bTORCH_LIBRARY": "it registers operators with TORCH_LIBRARY",
    r"torch::autograd::Function": "it defines an autograd function in C++",
    r"torch::(nn|optim|jit|data)::": "it uses torch's C++ frontend",
    r"\bpy::(object|list|dict|array|function|bytes|handle|kwargs|args)\b": "it handles Python objects",
    r"<torch/(script|library)\.h>": "it includes torch's script or library headers",
    r"(?m)^\s*#\s*(el)?if.*\b(TORCH_|AT_|C10_|PYBIND11_|PY_|INTRA_OP|__has_include)": "it asks which torch this is",
}


class Outside(Exception):
    """This build is not one for the light path; the text says why."""


def why_not(ask: BuildAsk, torch_year: int) -> str | None:
    """What can be said before trying."""
    if not ask.is_python_module:
        return "it is no Python module"
    if (flags.year((*ask.extra_cflags, *ask.extra_cuda_cflags)) or torch_year) < torch_year:
        return f"its -std is older than torch's own C++{torch_year % 100}"
    text = "\n".join((*ask.cpp_sources, *ask.cuda_sources, *ask.files.values()))
    return next((why for pattern, why in OUTSIDE.items() if re.search(pattern, text)), None)


def build(folder: Path, ask: BuildAsk, text: str, torch_include: Path, glue: Path, jobs: int) -> tuple[Path, str]:
    """The artifact and what its commands printed. `text` is the build.ninja that torch wrote."""
    sources = _sources(text)
    folder.mkdir()
    standins.lay_out(folder / "include", torch_include, {**ask.files, **sources})
    wants_cublas = any("cublas" in source.lower() for source in sources.values())
    bent = ninja.light(text, str(torch_include), str(folder / "include"), str(glue), wants_cublas)
    try:
        log = ninja.run(folder, bent, jobs)
    except ninja.Failed as failed:
        raise Outside(explain.first_error(str(failed))) from None
    return folder / f"{ask.name}.so", log


def _sources(text: str) -> dict[str, str]:
    paths = re.findall(r"^build \S+: (?:cuda_)?compile (.+)$", text, re.M)
    return {path: Path(path.replace("$ ", " ")).read_text(errors="replace") for path in paths}
