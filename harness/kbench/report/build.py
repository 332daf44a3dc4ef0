"""What is said of a result's build: how long and by which path, what its kernels use, where it failed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from kbench import units
from kbench.records import Build, BuildError, Extension, Kernel

MAX_KERNELS = 12
WIDTH = 71
MAX_CODE = 62
MAX_NAME = 40


def summary(build: Build) -> str:
    """`1.1 s, 1 extension, light`."""
    count = units.plural(len(build.extensions), "extension")
    return f"{build.seconds:.1f} s, {count}, {_path(build)}{', cached' if build.cached else ''}"


def reasons(build: Build) -> Iterator[str]:
    """Why not the light path, where it was wanted."""
    for extension in build.extensions:
        if extension.why_full and not extension.error and not extension.why_full.startswith("--build"):
            yield f"{extension.name} not by the light path: {extension.why_full}"


def kernels(build: Build, verbose: bool) -> Iterator[str]:
    """One line a kernel: all of them, or only those that spill."""
    found = [kernel for extension in build.extensions for kernel in extension.kernels]
    shown = found if verbose else [kernel for kernel in found if kernel.spill_stores_bytes]
    yield from (_usage(kernel) for kernel in shown[:MAX_KERNELS])
    if len(shown) > MAX_KERNELS:
        yield f"and {len(shown) - MAX_KERNELS} more kernels"


def failure(build: Build) -> Iterator[str]:
    """The line that failed to compile, with a caret, as compilers draw it."""
    for extension in build.extensions:
        if extension.error:
            yield from _pointed(extension, extension.error)


def _path(build: Build) -> str:
    mixed = {extension.path for extension in build.extensions} == {"light", "full"}
    return "light and full" if mixed else build.path


def _usage(kernel: Kernel) -> str:
    name = kernel.name if len(kernel.name) <= MAX_NAME else kernel.name[: MAX_NAME - 3] + "..."
    parts = [f"{kernel.registers} registers"]
    parts += [f"{kernel.spill_stores_bytes} B spilled"] if kernel.spill_stores_bytes else []
    parts += [f"{kernel.shared_bytes} B shared"] if kernel.shared_bytes else []
    parts += [f"{kernel.stack_bytes} B stack"] if kernel.stack_bytes else []
    return f"{name}: {', '.join(parts)}"


def _pointed(extension: Extension, error: BuildError) -> Iterator[str]:
    yield from textwrap.wrap(f"error in extension {extension.name}: {error.message}", WIDTH)
    if error.file and error.line and error.code is not None:
        code = error.code.rstrip()
        # A long line is cut so that the caret still stands under it.
        start = max(0, (error.column or 1) - MAX_CODE + 10) if len(code) > MAX_CODE else 0
        number = str(error.line)
        yield f"{' ' * len(number)}--> {error.file}:{error.line}"
        yield f"{number} | {code[start : start + MAX_CODE]}"
        if error.column:
            yield f"{' ' * len(number)} | {' ' * (error.column - 1 - start)}^"
    if error.hint:
        yield from textwrap.wrap(f"hint: {error.hint}", WIDTH, subsequent_indent=" " * 6)
    if extension.log_file:
        yield f"whole log: {extension.log_file}"
