"""One compilation, inside the jail: torch's own load_inline and load, stopped before the import.

Compiling exactly as torch would means letting torch do it; only the step that would import the artifact is
taken out, because an artifact is loaded in its solution's worker and nowhere else.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kbench.protocol import BuildAsk
from kbench.records import Record
from kbench.wire import Channel

MAX_LOG = 1 << 20


class Order(Record, frozen=True):
    """What the builder asks of one jailed job."""

    ask: BuildAsk
    compiler: str
    cuda_home: str | None
    arch_list: str | None
    jobs: int
    flags_only: bool = False


class Made(Record, frozen=True):
    """What came of it; `artifact` is None where the build failed."""

    artifact: bytes | None
    log: str
    seconds: float


def run(channel: Channel) -> None:
    order = channel.receive(Order)
    began = time.monotonic()
    folder = Path(os.environ["KBENCH_SCRATCH"], "solution", "build")
    folder.mkdir(parents=True)
    artifact, log = _compile(order, folder)
    channel.send(Made(artifact=artifact, log=log[-MAX_LOG:], seconds=time.monotonic() - began))


def _compile(order: Order, folder: Path) -> tuple[bytes | None, str]:
    os.environ["MAX_JOBS"] = str(order.jobs)
    os.environ["CXX"] = order.compiler
    if order.arch_list:
        os.environ["TORCH_CUDA_ARCH_LIST"] = order.arch_list
    refusal = _refused_standard(order)
    if refusal or order.flags_only:
        return None, refusal or ""
    try:
        _as_torch_would(order, folder)
    except (RuntimeError, OSError, ValueError, AssertionError) as error:
        return None, str(error)
    made = list(folder.glob("*.so"))
    return (made[0].read_bytes(), "") if made else (None, "the build left no shared object")


def _refused_standard(order: Order) -> str | None:
    """A `-std` of the solution that torch's headers refuse costs two seconds to find, not a minute."""
    import torch.utils.cpp_extension as extension

    flags = (*order.ask.extra_cflags, *order.ask.extra_cuda_cflags)
    standards = [flag for flag in flags if flag.startswith(("-std=", "--std="))]
    includes = [f"-I{path}" for path in extension.include_paths("cpu")]
    for standard in dict.fromkeys(standards):
        command = [
            order.compiler,
            standard.replace("--std", "-std"),
            *includes,
            "-E",
            "-x",
            "c++",
            "-o",
            "/dev/null",
        ]
        program = "#include <ATen/ATen.h>\n"
        run = subprocess.run([*command, "-"], input=program, capture_output=True, text=True, check=False)
        if run.returncode and "#error" in run.stderr:
            return f"{standard}:\n{run.stderr}"
    return None


def _as_torch_would(order: Order, folder: Path) -> None:
    import torch.utils.cpp_extension as extension

    modules: Any = extension
    modules._import_module_from_library = lambda *_, **__: None
    if order.cuda_home:
        modules.CUDA_HOME = order.cuda_home
    build: Callable[..., Any] = _inline if order.ask.kind == "inline" else _files
    _write_files(order.ask, folder.parent / "files")
    build(modules, order.ask, folder)


def _write_files(ask: BuildAsk, home: Path) -> None:
    for name, text in ask.files.items():
        target = (home / name).resolve()
        if target.is_relative_to(home):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def _inline(extension: Any, ask: BuildAsk, folder: Path) -> None:
    options: dict[str, Any] = {"no_implicit_headers": True} if ask.no_implicit_headers else {}
    if not ask.with_pytorch_error_handling:
        options["with_pytorch_error_handling"] = False
    extension.load_inline(
        name=ask.name,
        cpp_sources=list(ask.cpp_sources),
        cuda_sources=list(ask.cuda_sources),
        functions=ask.functions,
        **_shared(ask, folder),
        **options,
    )


def _files(extension: Any, ask: BuildAsk, folder: Path) -> None:
    home = folder.parent / "files"
    extension.load(name=ask.name, sources=[str(home / name) for name in ask.sources], **_shared(ask, folder))


def _shared(ask: BuildAsk, folder: Path) -> dict[str, Any]:
    home = folder.parent / "files"
    return {
        "extra_cflags": list(ask.extra_cflags) or None,
        "extra_cuda_cflags": list(ask.extra_cuda_cflags) or None,
        "extra_ldflags": list(ask.extra_ldflags) or None,
        "extra_include_paths": [str(home / path) for path in ask.include_paths] or None,
        "build_directory": str(folder),
        "with_cuda": ask.with_cuda,
        "is_python_module": ask.is_python_module,
        "verbose": False,
    }
