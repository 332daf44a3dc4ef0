"""One compilation, inside the jail: torch's own load_inline and load, stopped where they would run the compilers.

What torch writes until then (sources, flags, a build.ninja) is what gets built: with the light headers in the place
of torch's where that works, else as it is. The step that would import the artifact is taken out too, because an
artifact is loaded in its solution's worker and nowhere else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from msgspec import structs

from kbench import units
from kbench.build import flags, glue, light, ninja, ptxas
from kbench.jail import linux
from kbench.protocol import BuildAsk
from kbench.records import BuildMode, Kernel, Record
from kbench.wire import Channel

MAX_LOG = 1 << 20
MAX_ARTIFACT = 256 * 2**20
LIGHT_REFUSAL = "the light path cannot build it"


class Order(Record, frozen=True):
    """What the builder asks of one jailed job: a solution's extension, with the glue coming along, or the glue."""

    compiler: str
    cuda_home: str | None
    arch_list: str | None
    jobs: int
    ask: BuildAsk | None = None  # None: make the glue
    mode: BuildMode = "auto"
    has_glue: bool = False
    why_no_glue: str | None = None


class Made(Record, frozen=True):
    """What came of it; `artifact` is None where the build failed."""

    artifact: bytes | None
    log: str
    seconds: float
    path: Literal["light", "full"] | None = None
    why_full: str | None = None
    kernels: tuple[Kernel, ...] = ()


def run(channel: Channel) -> None:
    linux.prctl(linux.PR_SET_DUMPABLE, 0)  # what is compiled must not reach into this process and speak for it
    order = channel.receive(Order)
    began = time.monotonic()
    folder = Path(os.environ["KBENCH_SCRATCH"], "solution", "build")
    folder.mkdir(parents=True)
    os.environ["MAX_JOBS"] = str(order.jobs)
    os.environ["CXX"] = order.compiler
    if order.arch_list:
        os.environ["TORCH_CUDA_ARCH_LIST"] = order.arch_list
    made = _glue(order, folder) if order.ask is None else _extension(order, order.ask, folder, channel)
    channel.send(structs.replace(made, log=made.log[-MAX_LOG:], seconds=time.monotonic() - began))


def _glue(order: Order, folder: Path) -> Made:
    try:
        return Made(glue.build(folder, order.compiler, order.cuda_home).read_bytes(), "", 0.0)
    except glue.Unbuildable as error:
        return Made(None, str(error) or "the glue does not build", 0.0)


def _extension(order: Order, ask: BuildAsk, folder: Path, channel: Channel) -> Made:
    building = _Building(order, ask, folder, _place_glue(order, folder, channel))
    try:
        _as_torch_would(order, ask, folder, building.instead_of_ninja)
    except (ninja.Failed, RuntimeError, OSError, ValueError, AssertionError) as error:
        return Made(None, str(error), 0.0, building.path, building.why_full)
    if building.artifact is None or not building.artifact.exists():
        return Made(None, "the build left no shared object", 0.0, building.path, building.why_full)
    size = building.artifact.stat().st_size
    if size > MAX_ARTIFACT:
        return Made(None, f"error: the shared object has {units.size(size)}, more than {units.size(MAX_ARTIFACT)}", 0.0)
    kernels = ptxas.demangled(ptxas.kernels(building.log))
    return Made(building.artifact.read_bytes(), building.log, 0.0, building.path, building.why_full, kernels)


def _place_glue(order: Order, folder: Path, channel: Channel) -> Path | None:
    if not order.has_glue:
        return None
    target = folder.parent / "glue" / glue.SONAME
    target.parent.mkdir()
    with os.fdopen(channel.take_fds(1)[0], "rb") as source:
        target.write_bytes(source.read())
    return target


class _Building:
    """Takes the place of torch's call of ninja: the light build first, where it is wanted, then the full one."""

    def __init__(self, order: Order, ask: BuildAsk, folder: Path, glue_path: Path | None) -> None:
        self.order = order
        self.ask = ask
        self.folder = folder
        self.glue = glue_path
        self.path: Literal["light", "full"] | None = None
        self.why_full: str | None = None
        self.artifact: Path | None = None
        self.log = ""

    def instead_of_ninja(self, build_directory: str, *_: object, **__: object) -> None:
        text = ninja.with_usage(Path(build_directory, "build.ninja").read_text())
        try:
            if self.order.mode == "full":
                raise light.Outside("--build full")
            self._light(text)
        except light.Outside as outside:
            self.why_full = str(outside)
            if self.order.mode == "light":
                raise ninja.Failed(f"error: {LIGHT_REFUSAL}: {outside}") from None
            self._full(text)

    def _light(self, text: str) -> None:
        import torch.utils.cpp_extension as extension

        why = light.why_not(self.ask, flags.torch_year(Path(extension.__file__).read_text()))
        if why or self.glue is None:
            raise light.Outside(why or self.order.why_no_glue or "there is no glue")
        include = Path(extension.include_paths("cpu")[0])
        self.path = "light"
        self.artifact, self.log = light.build(
            self.folder / "light", self.ask, text, include, self.glue, self.order.jobs
        )

    def _full(self, text: str) -> None:
        self.path = "full"
        self.log = ninja.run(self.folder, text, self.order.jobs)
        self.artifact = self.folder / f"{self.ask.name}.so"


def _as_torch_would(order: Order, ask: BuildAsk, folder: Path, instead_of_ninja: Callable[..., None]) -> None:
    import torch.utils.cpp_extension as extension

    modules: Any = extension
    modules._import_module_from_library = lambda *_, **__: None
    modules._run_ninja_build = instead_of_ninja
    if order.cuda_home:
        modules.CUDA_HOME = order.cuda_home
    build: Callable[..., Any] = _inline if ask.kind == "inline" else _files
    _write_files(ask, folder.parent / "files")
    build(modules, ask, folder)


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
