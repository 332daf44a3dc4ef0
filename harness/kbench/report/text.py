"""A result as people read it: at most 80 columns, one line a stage, the verdict last."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from kbench import units
from kbench.records import Result, Speedup
from kbench.report import build as of_build

WIDTH = 80
LABEL = 9
LOG_LINES = 20
MOST_RAN, MOST_NAME, LEAST_RAN = 3, 40, 0.01
SHOWN_FLOOR = 0.1  # what was only counted says little about work that is far above it


def lines(result: Result, verbose: bool = False) -> list[str]:
    """The table of `kbench eval`."""
    return [units.printable(line.rstrip()) for line in _lines(result, verbose)]


def _lines(result: Result, verbose: bool) -> Iterator[str]:
    yield from _folded("", f"{result.problem.id} [{result.problem.workload}]  {result.solution.id}")
    yield from _folded("device", _device(result))
    if result.solution.lines:
        yield from _folded("reply", f"code from lines {result.solution.lines[0]} to {result.solution.lines[1]}")
    yield from _build(result, verbose)
    yield from _check(result)
    yield from _timing(result)
    yield from _floor(result)
    yield from _trust(result)
    yield from _evidence(result)
    for warning in result.warnings:
        yield from _folded("warning", f"{warning.message}; {warning.next}")
    if result.log and (verbose or result.verdict not in ("passed", "wrong", *_explained(result))):
        yield from (f"  | {line}"[:WIDTH] for line in result.log.splitlines()[-LOG_LINES:])
    yield from _folded("", verdict_line(result), hanging=2)


def _explained(result: Result) -> list[str]:
    """A build's error is shown at its line; the log would only say it again, with all that follows from it."""
    placed = result.build and any(error and error.code for error in (e.error for e in result.build.extensions))
    return ["build_failed"] if placed else []


def verdict_line(result: Result) -> str:
    """`PASSED  1.05x faster than eager [1.04, 1.06]`, or what is wrong."""
    if not result.passed:
        return f"{result.verdict.upper()}  {result.reason}"
    said = "; ".join(_comparison(name, speedup) for name, speedup in result.speedup.items())
    return f"PASSED  {said}"


def _comparison(name: str, speedup: Speedup) -> str:
    """Faster or slower is said only when the whole interval says so."""
    low, high = speedup.ci95
    interval = f"[{low:.2f}, {high:.2f}]"
    if low > 1:
        return f"{speedup.value:.2f}x faster than {name} {interval}"
    if high < 1:
        return f"{1 / speedup.value:.2f}x slower than {name} [{1 / high:.2f}, {1 / low:.2f}]"
    return f"{speedup.value:.2f}x of {name}, no clear difference {interval}"


def _device(result: Result) -> str:
    device = result.device
    more = f", {units.plural(device.threads, 'thread')}" if device.threads else ""
    where = device.kind if device.index is None else f"{device.kind}:{device.index}"
    return f"{device.name} ({where}{more}), torch {result.environment.torch}"


def _build(result: Result, verbose: bool) -> Iterator[str]:
    build = result.build
    if build is None or build.path == "none":
        return
    yield from _folded("build", of_build.summary(build))
    for said in (*of_build.reasons(build), *of_build.kernels(build, verbose)):
        yield from _folded("", " " * LABEL + said, hanging=LABEL)
    yield from (" " * LABEL + line for line in of_build.failure(build))


def _check(result: Result) -> Iterator[str]:
    check = result.check
    if check is None:
        return
    said = f"{units.plural(check.trials, 'trial')}, {units.plural(check.calls, 'call')}"
    told = check.trials or check.max_abs_error  # of a first trial that failed nothing may have been noted
    if told and check.max_abs_error is not None and check.norm_error is not None:
        said += f"; largest error {check.max_abs_error:.1e}, relative norm {check.norm_error:.1e}"
    if check.precision not in (None, "float32"):
        said += f", {check.precision}"
    yield from _folded("check", said)


def _timing(result: Result) -> Iterator[str]:
    timing = result.timing
    if timing is None:
        return
    calls = f"{units.plural(timing.rounds, 'round')} of {units.plural(timing.calls_per_round, 'call')}"
    why = {"tight": "interval tight", "budget": "budget spent", "rounds": "most rounds"}[timing.stopped]
    yield from _folded("time", f"{_figure(timing.median_ms, timing.ci95_ms)}  {calls}, {why}")
    for name, baseline in result.baselines.items():
        yield from _folded(name, _figure(baseline.median_ms, baseline.ci95_ms))


def _trust(result: Result) -> Iterator[str]:
    told = result.attestation
    if told is None:
        return
    jail = "jail complete" if all(state == "on" for state in result.jail.values()) else "jail incomplete"
    if told.method == "referee-clock":
        yield from _folded("trust", f"the referee's own clock; {jail}")
        return
    seen = f"claimed {units.duration(told.claimed_ms or 0)}, seen {units.duration(told.batch_ms or 0)} in batches"
    yield from _folded("trust", f"{told.status}: {seen}, {units.duration(told.single_ms or 0)} singly; {jail}")


def _floor(result: Result) -> Iterator[str]:
    floor, timing = result.floor, result.timing
    if floor is None or timing is None or (not floor.stated and floor.ms < SHOWN_FLOOR * timing.median_ms):
        return
    counted = "" if floor.stated else ", inputs, outputs and weights moved once"
    reached = f"{floor.ms / timing.median_ms:.0%} of it reached"
    yield from _folded("floor", f"{units.duration(floor.ms)} by {floor.by}{counted}; {reached}")


def _evidence(result: Result) -> Iterator[str]:
    found = result.evidence
    if found is None:
        return
    most = [one for one in found.ran[:MOST_RAN] if one.share >= LEAST_RAN]
    longest = ", ".join(f"{one.name[:MOST_NAME]} {one.share:.0%}" for one in most)
    yield from _folded("ran", f"{found.own_share:.0%} in code of its own; most of the time in {longest}")


def _figure(value: float, interval: tuple[float, float]) -> str:
    return f"{units.duration(value)} {units.duration_interval(*interval, value)}"


def _folded(label: str, text: str, hanging: int = LABEL) -> list[str]:
    head = f"{label:<{LABEL}}" if label else ""
    indent = " " * (len(head) or hanging)
    folded = textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=indent, break_on_hyphens=False)
    return folded or [head]
