"""One allocator policy for both sides of a comparison on the CPU.

By default glibc maps every large tensor anew and hands it back, so that page faults, not arithmetic, decide the
time of elementwise work, until a process happens to free something large. Both sides get the settled state.
"""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
LARGEST_THRESHOLD = 32 * 2**20  # the most that glibc takes
NEVER_TRIM = 2**31 - 1
PAD = 64 * 2**20


def settle() -> None:
    """Keeps freed memory in this process. Does nothing where the C library has no mallopt."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGEST_THRESHOLD)
        mallopt(M_TRIM_THRESHOLD, NEVER_TRIM)
        mallopt(M_TOP_PAD, PAD)
