"""Stands in for torch's load_inline and load: asks the builder instead of compiling, then imports the artifact."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.utils.cpp_extension as cpp_extension

from kbench.protocol import BuildAsk, BuildReply
from kbench.wire import Channel
from kbench.worker.trace import Own

HEADERS = (".h", ".hpp", ".hh", ".cuh", ".inl", ".hxx", ".inc", "")
MAX_FILE = 4 * 2**20
MAX_FILES = 2000


class Intercept:
    def __init__(self, channel: Channel, scratch: str) -> None:
        self.channel = channel
        self.scratch = scratch
        self.lock = threading.Lock()
        self.count = 0
        self.own = Own()
        self.folders: dict[str, int] = {}  # below the scratch's tmp, in the order in which builds named them

    def load_inline(
        self,
        name: str,
        cpp_sources: Any,
        cuda_sources: Any = None,
        functions: Any = None,
        extra_cflags: Any = None,
        extra_cuda_cflags: Any = None,
        extra_ldflags: Any = None,
        extra_include_paths: Any = None,
        build_directory: Any = None,
        verbose: bool = False,
        with_cuda: bool | None = None,
        is_python_module: bool = True,
        with_pytorch_error_handling: bool = True,
        keep_intermediates: bool = True,
        use_pch: bool = False,
        no_implicit_headers: bool = False,
        **others: Any,
    ) -> Any:
        _refuse(others)
        ask = BuildAsk(
            kind="inline",
            name=name,
            cpp_sources=_texts(cpp_sources),
            cuda_sources=_texts(cuda_sources),
            functions=_functions(functions),
            files=dict(self._headers(_texts(extra_include_paths))),
            extra_cflags=_texts(extra_cflags),
            extra_cuda_cflags=_texts(extra_cuda_cflags),
            extra_ldflags=_texts(extra_ldflags),
            include_paths=tuple(map(self._travelling, _texts(extra_include_paths))),
            with_cuda=with_cuda,
            with_pytorch_error_handling=with_pytorch_error_handling,
            no_implicit_headers=no_implicit_headers,
            is_python_module=is_python_module,
            arch_list=os.environ.get("TORCH_CUDA_ARCH_LIST"),
        )
        return self._build(ask)

    def load(
        self,
        name: str,
        sources: Any,
        extra_cflags: Any = None,
        extra_cuda_cflags: Any = None,
        extra_ldflags: Any = None,
        extra_include_paths: Any = None,
        build_directory: Any = None,
        verbose: bool = False,
        with_cuda: bool | None = None,
        is_python_module: bool = True,
        keep_intermediates: bool = True,
        **others: Any,
    ) -> Any:
        _refuse(others)
        paths = [str(Path(source).resolve()) for source in _texts(sources)]
        folders = [str(Path(path).parent) for path in paths]
        ask = BuildAsk(
            kind="files",
            name=name,
            files=dict(self._headers((*_texts(extra_include_paths), *folders), paths)),
            sources=tuple(map(self._travelling, paths)),
            extra_cflags=_texts(extra_cflags),
            extra_cuda_cflags=_texts(extra_cuda_cflags),
            extra_ldflags=_texts(extra_ldflags),
            include_paths=tuple(map(self._travelling, _texts(extra_include_paths))),
            with_cuda=with_cuda,
            is_python_module=is_python_module,
            arch_list=os.environ.get("TORCH_CUDA_ARCH_LIST"),
        )
        return self._build(ask)

    def _build(self, ask: BuildAsk) -> Any:
        with self.lock:
            self.channel.send(ask)
            reply = self.channel.receive(BuildReply)
            if reply.error is not None:
                raise RuntimeError(f"Error building extension '{ask.name}': {reply.error}")
            if reply.ahead:
                return _NotHere(ask.name)
            self.count += 1
            target = Path(self.scratch, "extensions", str(self.count), f"{ask.name}.so")
            self._copy(target)
            if reply.with_glue:
                self._load_glue()
        before = _operators()
        made = _import(ask, target)
        self.own.operators |= {name.split(".")[0] for name in _operators() - before}  # without their overloads
        if ask.is_python_module:
            self.own.functions |= {id(value): name for name, value in vars(made).items() if callable(value)}
        return made

    def _load_glue(self) -> None:
        """Once a process: artifacts find it by its soname among what is loaded."""
        target = Path(self.scratch, "extensions", "libkbl.so")
        if target.exists():
            os.close(self.channel.take_fds(1)[0])
            return
        self._copy(target)
        ctypes.CDLL(str(target))

    def _copy(self, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(self.channel.take_fds(1)[0], "rb") as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)

    def _travelling(self, path: str) -> str:
        """Paths in the scratch are rebuilt in the builder's; others mean the machine's own files."""
        full = str(Path(path).resolve())
        return self._steady(full).lstrip("/") if full.startswith(self.scratch) else full

    def _steady(self, path: str) -> str:
        """Folders that tempfile made go by number: under their random names nothing is ever found in the cache."""
        base = f"{self.scratch}/tmp/"
        first, _, rest = path.removeprefix(base).partition("/")
        if not path.startswith(base) or not (rest or Path(path).is_dir()):
            return path
        number = self.folders.setdefault(first, len(self.folders))
        return f"{base}folder-{number}/{rest}".rstrip("/")

    def _headers(self, folders: tuple[str, ...], more: list[str] | None = None) -> Iterator[tuple[str, str]]:
        """Texts in the scratch that a source may include, by the path they travel under."""
        own = [Path(folder).resolve() for folder in folders if str(Path(folder).resolve()).startswith(self.scratch)]
        found = [path for folder in own for path in folder.rglob("*") if path.suffix in HEADERS and path.is_file()]
        for path in (*found[:MAX_FILES], *map(Path, more or ())):
            if path.stat().st_size <= MAX_FILE:
                yield self._travelling(str(path)), path.read_text(errors="replace")


class _NotHere:
    """Stands for an extension that was built ahead of time, for another machine: it says so when it is called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> _NotHere:
        return self

    def __call__(self, *_: object, **__: object) -> Any:
        raise NotImplementedError(f"extension {self._name!r} was built ahead of time, for another machine")


def install(channel: Channel, scratch: str) -> Intercept:
    """From here on whoever imports them, by module or by name, gets ours."""
    ours = Intercept(channel, scratch)
    modules: Any = cpp_extension
    modules.load_inline = ours.load_inline
    modules.load = ours.load
    return ours


def _operators() -> set[str]:
    return set(torch._C._dispatch_get_all_op_names())


def _import(ask: BuildAsk, path: Path) -> Any:
    if not ask.is_python_module:
        torch.ops.load_library(str(path))  # type: ignore[no-untyped-call]
        return str(path)
    spec = importlib.util.spec_from_file_location(ask.name, path)
    assert spec is not None and isinstance(spec.loader, importlib.machinery.ExtensionFileLoader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.setdefault(ask.name, module)
    return module


def _texts(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    return (str(given),) if isinstance(given, str | Path) else tuple(map(str, given))


def _functions(given: Any) -> dict[str, str] | None:
    if given is None:
        return None
    if isinstance(given, dict):
        return {str(name): str(text) for name, text in given.items()}
    return {name: name for name in _texts(given)}


def _refuse(others: dict[str, Any]) -> None:
    wanted = [name for name, value in others.items() if value]
    if wanted:
        raise TypeError(f"kbench builds no extension with {wanted[0]}")
