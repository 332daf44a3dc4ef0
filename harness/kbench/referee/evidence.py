"""What ran in the traced call, and whether that is what the problem asks for. Pure."""

from __future__ import annotations

from kbench.protocol import Span, Traced
from kbench.records import Build, Evidence, Origin, Ran
from kbench.referee.ruling import Ruling

SHOWN = 10
UNSEEN = "what torch does not see"
# A CPU's times are disturbed, and the first span of a process takes a millisecond: short calls are repeated.
ONCE_MORE = 2
FEWEST, MOST, WATCHED_MS, LONG_MS = 4, 8, 50.0, 500.0
LEAST_SHARE = 0.1  # where a problem only says custom_kernel=True
LONGER = 1.5  # a traced call that takes so much longer than the timed ones is another call
SLACK_MS = 0.05
BUSY = 0.6  # of a call: below that a GPU waits for its host
# Kernels of torch and of NVIDIA's libraries. What a solution compiles under such a name counts as theirs.
LIBRARY_NAMES = ("at::", "c10::", "cub::", "cublas", "cudnn", "nvjet", "sm80_", "sm90_", "sm100_", "ampere_", "gemv2")


def passes(kind: str, call_ms: float, decides: bool) -> int:
    """How often the call is repeated under watch; more often where something is decided by it."""
    if kind != "cpu" or call_ms > LONG_MS:
        return 1
    if not decides:
        return ONCE_MORE
    return max(FEWEST, min(MOST, int(WATCHED_MS / max(call_ms, 0.001))))


def weigh(traced: Traced, build: Build, kind: str) -> Evidence | None:
    """None where nothing was seen to run."""
    compiled = {_plain(kernel.name) for extension in build.extensions for kernel in extension.kernels}
    spans = [(span, _origin(span, compiled)) for span in traced.spans]
    if kind == "cpu":
        spans += _unseen(traced, build)
    total = sum(span.ms for span, _ in spans)
    if total <= 0:
        return None
    ran = [Ran(span.name, origin, span.calls, span.ms, span.ms / total) for span, origin in spans]
    own = sum(one.share for one in ran if one.origin in ("own", "triton"))
    longest = sorted(ran, key=lambda one: -one.ms)[:SHOWN]
    return Evidence(own_share=min(own, 1.0), ms=total, ran=tuple(longest))


def _origin(span: Span, compiled: set[str]) -> Origin:
    if span.kind != "kernel":
        return span.kind
    return "own" if _plain(span.name) in compiled and not _is_library(span.name) else "library"


def _unseen(traced: Traced, build: Build) -> list[tuple[Span, Origin]]:
    """A function that is called by way of ctypes, a class or another thread is not seen to run.

    Where an extension was built and nothing of it was seen, it has what is left of the call; where none was built
    this is Python, or a library that torch knows nothing of.
    """
    if any(span.kind == "own" for span in traced.spans):
        return []
    left = max(0.0, traced.ms - sum(span.ms for span in traced.spans))
    origin: Origin = "own" if any(extension.artifact for extension in build.extensions) else "library"
    return [(Span(UNSEEN, "library", 1, left), origin)] if left > 0 else []


def idle_share(evidence: Evidence | None, timed_ms: float) -> float | None:
    """How much of a call the GPU has nothing to do, where that is so much that the host decides how long it takes."""
    share = evidence.ms / timed_ms if evidence else 1.0
    return 1.0 - share if share < BUSY else None


def policy(evidence: Evidence | None, custom_kernel: bool | float, timed_ms: float | None) -> Ruling | None:
    """What a problem that asks for kernels of the solution's own says to this; None where it is content."""
    if not custom_kernel:
        return None
    needed = LEAST_SHARE if custom_kernel is True else float(custom_kernel)
    if evidence is None:
        return _off("nothing was seen to run, and the problem asks for kernels of the solution's own")
    if timed_ms is not None and evidence.ms > LONGER * timed_ms + SLACK_MS:
        return _off(f"the traced call ran {evidence.ms:.3g} ms of kernels, a timed one takes {timed_ms:.3g} ms")
    if evidence.own_share < needed:
        most = max(evidence.ran, key=lambda one: one.ms)
        said = f"{evidence.own_share:.0%} of the time is spent in kernels of its own, the problem asks for {needed:.0%}"
        return _off(f"{said}; most is in {most.name[:80]}")
    return None


def _off(why: str) -> Ruling:
    return Ruling("wrong", f"policy: {why}")


def _plain(name: str) -> str:
    """Without what c++filt and CUPTI write differently."""
    return name.replace(" ", "").removeprefix("void")


def _is_library(name: str) -> bool:
    return name.removeprefix("void ").startswith(LIBRARY_NAMES)
