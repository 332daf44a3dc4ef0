"""The least that a call can take: bytes by the device's bandwidth, operations by its rate. Pure."""

from __future__ import annotations

from kbench import units
from kbench.device.limits import Rates
from kbench.records import Floor, Warn
from kbench.referee.ruling import Ruling

# A call below this share of its floor did not do the work. What was measured is not the last percent of a device,
# and eight-bit products are twice as fast as the sixteen-bit ones that were.
IMPOSSIBLE = 0.75
EIGHT_BIT = 2.0


def floor(
    bytes: float | None, moved: int, operations: float | None, rates: Rates, cache_bytes: int, eight_bit: bool
) -> Floor | None:
    """`bytes` and `operations` as the problem states them; `moved` is what inputs, outputs and weights take.

    What fits the cache need not go to memory before the clock stops. None where that is all.
    """
    counted = moved if bytes is None else bytes
    rate = rates.operations_per_s * (EIGHT_BIT if eight_bit else 1.0)
    by_bytes = max(0.0, counted - cache_bytes) / rates.bytes_per_s * 1e3
    by_operations = (operations or 0.0) / rate * 1e3
    if max(by_bytes, by_operations) <= 0:
        return None
    return Floor(
        ms=max(by_bytes, by_operations),
        by="bytes" if by_bytes >= by_operations else "operations",
        bytes=counted,
        operations=operations,
        bytes_per_s=rates.bytes_per_s,
        operations_per_s=rate,
        stated=bytes is not None if by_bytes >= by_operations else True,
    )


def judge(floor: Floor | None, ms: float, kind: str) -> Ruling | None:
    """Only what the problem states can make it a verdict: an honest solution may not need every input.

    Nor on the CPU, where nothing but the referee's own clock was asked.
    """
    if floor is None or not floor.stated or kind == "cpu" or not is_impossible(floor, ms):
        return None
    return Ruling("cheated", f"an impossible time: {units.duration(ms)} for {arithmetic(floor)}")


def warning(floor: Floor | None, ms: float) -> list[Warn]:
    """The same where it is no verdict."""
    if floor is None or not is_impossible(floor, ms):
        return []
    said = f"a call takes {units.duration(ms)}, less than what it has to move allows, {arithmetic(floor)}"
    return [Warn("implausible", said, "look for work that is left out, or for inputs that need not be read")]


def is_impossible(floor: Floor, ms: float) -> bool:
    return ms < IMPOSSIBLE * floor.ms


def arithmetic(floor: Floor) -> str:
    """`1.1 GB at 4.1 TB/s: at least 0.26 ms`."""
    if floor.by == "bytes":
        work = f"{units.size(floor.bytes)} at {units.size(floor.bytes_per_s)}/s"
    else:
        work = f"{units.scaled(floor.operations or 0.0)} operations at {units.scaled(floor.operations_per_s)}/s"
    return f"{work}: at least {units.duration(floor.ms)}"
