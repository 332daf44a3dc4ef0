"""How much of this machine is ours: cores and memory, within a cgroup's limits where there are some."""

from __future__ import annotations

import os
import re
from pathlib import Path


def usable_cores() -> int:
    """Affinity, bounded by a cgroup quota where there is one."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):
        return cores


def available_memory() -> int:
    """What can still be taken, within a cgroup's limit where there is one."""
    free = meminfo("MemAvailable") or 2**33
    limit, taken = _cgroup_memory("max"), _cgroup_memory("current")
    return free if limit is None or taken is None else min(free, limit - taken)


def total_memory() -> int | None:
    """All that there is, within a cgroup's limit where there is one."""
    bounds = [bound for bound in (meminfo("MemTotal"), _cgroup_memory("max")) if bound is not None]
    return min(bounds, default=None)


def meminfo(field: str) -> int | None:
    """A field of /proc/meminfo, in bytes."""
    match = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    return int(match[1]) * 1024 if match else None


def _cgroup_memory(what: str) -> int | None:
    """None where there is no cgroup, or no limit."""
    try:
        return int(Path(f"/sys/fs/cgroup/memory.{what}").read_text())
    except (OSError, ValueError):
        return None
