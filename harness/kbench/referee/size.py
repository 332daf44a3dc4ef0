"""How many slots an arena has, and how many of them a round uses."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kbench import units
from kbench.device.interface import Device
from kbench.errors import DoesNotFit
from kbench.referee.arena import Layout

MEMORY_SHARE = 0.4
FLUSH_SHARE = 0.3
ROUND_S = {"cpu": 0.01, "cuda": 0.008}
MAX_CALLS = 128
# A GPU's times depend a little on how many calls a round has: in coarse steps two runs mostly have the same.
STEPS = {"cpu": range(2, MAX_CALLS + 1), "cuda": (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)}
LEAST_CALLS = {"cpu": 2, "cuda": 4}  # the reference may take long where the solution does not
# Flush regions written at the start of a round, for some 0.6 ms on an H200: launches that come later than the GPU could
# take them hide behind that, as work would whose events are forged. So no more than two for a call, and where memory is
# short no more than a quarter of what flushes have.
LEAD, LEAD_PER_CALL, LEAD_SHARE = 16, 2, 0.25
SLOT_MEMORY = 2 * 2**30
# A round's cost beside its calls is known to some 30 us: fewer calls than these have more memory.
ENOUGH_CALLS, MOST_MEMORY = 8, 8 * 2**30
CPU_ROUND_BYTES = 16 * 2**20  # what is verified after a round stays near the caches
# Rounds that have slots of their own, on a CPU. What its caches hold is decided by contents and poison, written right
# before a round: slots used one or three rounds ago were as quick as those of long ago (0.0 % apart, to 0.3 %). More
# than one is for the luck of where memory lies, an odd number for either order of the sides to meet all of it.
ROTATION = 3


@dataclass(frozen=True)
class Size:
    """How many slots the arena has, and how many of them one round uses."""

    slots: int
    calls: int
    lead: int = 0  # flush regions beside those of the slots


def size(device: Device, free: int, layout: Layout, sides: int, call_s: float) -> Size:
    """Slots within the memory that may be used, of what was free; calls that make a round long enough."""
    slot = layout.input_bytes + layout.output_bytes
    most = int(MEMORY_SHARE * free // max(1, sides * slot))
    if most < 2:
        raise DoesNotFit(
            f"the reference is too large for this device: two slots for each of {sides} sides take "
            f"{units.size(2 * sides * slot)}, {units.size(MEMORY_SHARE * free)} may be used",
            "choose a smaller --workload, or a device with more memory",
        )
    kind, lead = device.kind, 0
    if layout.flush_bytes:
        regions = int(FLUSH_SHARE * free // (sides * layout.flush_bytes))
        lead = max(1, min(LEAD, int(LEAD_SHARE * regions)))
        most = min(most, max(2, regions - lead))
    room = max(SLOT_MEMORY // max(1, slot), min(ENOUGH_CALLS, MOST_MEMORY // max(1, slot)))
    most = max(2, min(most, MAX_CALLS, room))
    wanted = max(LEAST_CALLS[kind], math.ceil(ROUND_S[kind] / max(call_s, 1e-6)))
    bound = min(most, CPU_ROUND_BYTES // max(1, slot)) if kind == "cpu" else most
    calls = max((step for step in STEPS[kind] if step <= min(wanted, bound)), default=2)
    lead = min(lead, LEAD_PER_CALL * calls)
    rotating = min(most, ROTATION * min(calls, CPU_ROUND_BYTES // max(1, slot))) if kind == "cpu" else calls
    slots = calls * max(1, rotating // calls)
    return Size(slots=slots, calls=calls, lead=lead)
