"""Warnings as data: what was seen, and the next step. Pure functions over what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kbench.records import Attestation, Timing, Warn

NOISY = {"cpu": 0.10, "cuda": 0.03}
CLOCK_SPREAD = 0.05
HICCUPS = 0.05  # the share of looks at a GPU that a host which is slow for once disturbs


def of_jail(lacking: dict[str, str]) -> Iterator[Warn]:
    if lacking:
        yield Warn(
            code="jail",
            message=f"the jail lacks {', '.join(lacking)} here",
            next="kbench doctor says why; --require-jail refuses to run without them",
        )


def of_keeping(fault: str | None) -> Iterator[Warn]:
    if fault is not None:
        yield Warn(
            code="keep",
            message=f"its scratch could not be copied as a whole: {fault[:300]}",
            next="name another folder with --keep",
        )


def of_timing(timing: Timing, foreign: list[int], attestation: Attestation | None) -> Iterator[Warn]:
    on_cpu = attestation is not None and attestation.method == "referee-clock"
    width = (timing.ci95_ms[1] - timing.ci95_ms[0]) / 2 / timing.median_ms
    if width > NOISY["cpu" if on_cpu else "cuda"]:
        yield Warn(
            code="noisy",
            message=f"times vary: the interval is {width:.0%} to either side",
            next="close what else runs here, or raise --budget",
        )
    if foreign:
        listed = ", ".join(map(str, foreign[:5]))
        yield Warn(code="shared", message=f"other processes use the GPU: {listed}", next="time on a GPU of its own")
    yield from _of_clocks(timing)
    if attestation is not None and attestation.status == "loose":
        yield Warn(
            code="loose",
            message="the claimed time is not attested; what is shown is no less than the referee saw, within its slack",
            next="choose a larger --workload to compare more finely",
        )


def of_looks(looks: Sequence[bool], given_up: int) -> Iterator[Warn]:
    """`looks` tell of each round of a baseline whether something was at work on the GPU after it."""
    if given_up or sum(looks) > max(1, HICCUPS * len(looks)):
        again = f", and {given_up} earlier series" if given_up else ""
        yield Warn(
            code="busy",
            message=f"something was at work on the GPU beside {sum(looks)} of {len(looks)} rounds{again}",
            next="time on a GPU of its own",
        )


def of_waiting(idle_share: float | None) -> Iterator[Warn]:
    if idle_share is not None:
        yield Warn(
            code="host",
            message=f"the GPU has nothing to do for {idle_share:.0%} of a call: such times vary with the host",
            next="do more in one kernel, or capture the launches as a CUDA graph",
        )


def _of_clocks(timing: Timing) -> Iterator[Warn]:
    throttled = sorted({reason for sample in timing.telemetry for reason in sample.throttle})
    if throttled:
        yield Warn(
            code="throttled",
            message=f"the GPU was slowed down by: {', '.join(throttled)}",
            next="let it cool down or check its power limit; the ratio to the baseline is less affected",
        )
    clocks = [sample.sm_mhz for sample in timing.telemetry if sample.sm_mhz]
    if clocks and max(clocks) - min(clocks) > CLOCK_SPREAD * max(clocks):
        yield Warn(
            code="clocks",
            message=f"the SM clock moved between {min(clocks)} and {max(clocks)} MHz",
            next="compare by the speedup, whose two sides ran side by side",
        )
