"""Untimed calls with everything that runs in them written down, by name and time."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torch._C._profiler import _ExperimentalConfig
from torch.autograd import profiler

from kbench.device.interface import Device
from kbench.protocol import MAX_SPAN_NAME, MAX_SPANS, Span, SpanKind, Traced

NOTHING = "nothing"  # a function of which all the time is that of watching it
LIBRARIES = ("aten::", "mkldnn::", "mkl::", "prims::", "quantized::", "torchvision::", "c10::", "c10d::")
FEW = 2
MANY, LONG_S = 2000, 0.25  # spans and seconds from which on these are enough
Seen = dict[tuple[str, SpanKind], list[float]]  # microseconds, in the order in which they began


class Own:
    """What a solution compiled, as far as it can be told by its name or by who it is."""

    def __init__(self) -> None:
        self.functions: dict[int, str] = {}  # by id
        self.operators: set[str] = set()


def traced(call: Callable[[], object], passes: int, device: Device, own: Own) -> Traced:
    seen, walls = _watched(call, min(passes, FEW), device, own)
    if passes > FEW and walls[0] < LONG_S and sum(map(len, seen.values())) < MANY:
        seen, walls = _watched(call, passes, device, own)
    spans = [
        Span(name[:MAX_SPAN_NAME], kind, -(-len(times) // len(walls)), undisturbed(times, len(walls)) / 1e3)
        for (name, kind), times in seen.items()
    ]
    longest = sorted(spans, key=lambda span: -span.ms)[:MAX_SPANS]
    return Traced(ms=min(walls[1:] or walls) * 1e3, spans=tuple(longest))


def undisturbed(times: list[float], passes: int) -> float:
    """Of one pass: the shortest but for the first, which is slow, where every pass did the same."""
    each, rest = divmod(len(times), passes)
    if rest or passes == 1:
        return sum(times) / passes
    return min(sum(times[at : at + each]) for at in range(each, len(times), each))


def _watched(call: Callable[[], object], passes: int, device: Device, own: Own) -> tuple[Seen, list[float]]:
    """What was seen, and how long each pass took."""
    walls: list[float] = []
    watch = _Watch(own.functions)
    try:
        with _silent(), _profiled(device, watch) as profile:
            for _ in range(passes):
                os.getppid()
                began = time.perf_counter()
                call()
                device.synchronize()
                walls.append(time.perf_counter() - began)
    except RuntimeError:
        if len(walls) < passes:
            raise
        return {}, walls  # the profiler's: the solution began one of its own
    return (_kernels(profile) if device.kind == "cuda" else _calls(profile, watch, own.operators)), walls


@contextlib.contextmanager
def _profiled(device: Device, watch: _Watch) -> Iterator[Any]:
    if device.kind == "cuda":
        with profiler.profile(use_device="cuda", use_cpu=False, use_kineto=True) as profile:
            yield profile
        return
    with profiler.profile(experimental_config=_all_threads()) as profile:
        threading.setprofile(watch)
        sys.setprofile(watch)
        try:
            yield profile
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def _all_threads() -> Any:
    try:
        return _ExperimentalConfig(profile_all_threads=True)
    except TypeError:  # before torch 2.7
        return None


class _Watch:
    """Writes a span into the profile for each call of a function that the solution compiled."""

    def __init__(self, functions: dict[int, str]) -> None:
        self.mark = f"{secrets.token_hex(8)}::"  # for spans that nobody else writes
        self.functions = functions | {id(os.getppid): NOTHING}
        self.open = threading.local()

    def __call__(self, frame: object, event: str, argument: Any) -> None:
        if not event.startswith("c_") or id(argument) not in self.functions:
            return
        spans = self.open.__dict__.setdefault("spans", [])
        if event == "c_call":
            spans.append(profiler.record_function(self.mark + self.functions[id(argument)]))
            spans[-1].__enter__()
        elif spans:
            spans.pop().__exit__(None, None, None)


def _calls(profile: Any, watch: _Watch, operators: set[str]) -> Seen:
    """Of each function its own time, without what it calls of torch."""
    seen: Seen = {}
    for event in profile.function_events:
        us = max(float(event.self_cpu_time_total), 0.0)
        if event.name.startswith(watch.mark) or event.name in operators:
            seen.setdefault((event.name.removeprefix(watch.mark), "own"), []).append(us)
        elif event.name.startswith(LIBRARIES):
            seen.setdefault((event.name, "library"), []).append(us)
    watching = min(seen.pop((NOTHING, "own"), [0.0]))
    return {
        (name, kind): [max(us - watching, 0.0) for us in times] if kind == "own" else times
        for (name, kind), times in seen.items()
    }


def _kernels(profile: Any) -> Seen:
    """Everything that ran on the GPU. Whether an extension brought a kernel is the builder's to say."""
    seen: Seen = {}
    written, generated = _of_triton()
    for event in profile.function_events:
        if not str(event.device_type).endswith("CUDA"):
            continue
        kind: SpanKind = "kernel"
        if event.name in written:
            kind = "generated" if f"def {event.name}(" in generated else "triton"
        seen.setdefault((event.name, kind), []).append(max(float(event.time_range.elapsed_us()), 0.0))
    return seen


def _of_triton() -> tuple[set[str], str]:
    """The kernels that Triton compiled here, and the sources that Inductor wrote."""
    names = set()
    for path in Path(os.environ["TRITON_CACHE_DIR"]).rglob("*.json"):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            names.add(json.loads(path.read_text()).get("name"))
    sources = []
    for path in Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).rglob("*.py"):
        with contextlib.suppress(OSError, ValueError):
            sources.append(path.read_text())
    return {name for name in names if name}, "\n".join(sources)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """The profiler announces itself on stderr, which is the solution's log."""
    sys.stderr.flush()
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
