"""Memory that a referee shares with a worker, seen from there. Run with `pytest -m gpu`."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.gpu

# What a process does with the handle of another's memory: that it was given, and all that it can reach with it.
OPEN = """
import ctypes, sys, torch
from kbench.device import driver
torch.zeros(1, device="cuda")
pointer = driver.open_export(bytes.fromhex(sys.argv[1]))
start, length = ctypes.c_uint64(), ctypes.c_size_t()
found = (ctypes.byref(start), ctypes.byref(length), ctypes.c_uint64(pointer))
driver._check(driver._driver().cuMemGetAddressRange_v2(*found), "cuMemGetAddressRange")
memory = driver.as_tensor(start.value, length.value)
"""
OWN = """
import subprocess, sys, torch
from kbench.device import driver
from kbench.device.cuda import GpuMemory
torch.zeros(1, device="cuda")
def opened(handle, look):
    done = subprocess.run([sys.executable, "-c", look, handle.hex()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
"""
# Rows at random, each behind a write that keeps the GPU busy until the host has launched what is measured.
READ = """
import statistics, time
def microseconds(memory):
    rows = memory[: memory.numel() // 128 * 128].view(torch.float32).view(-1, 32)
    places = torch.randint(rows.shape[0], (2**21,), device="cuda")
    other, out, took = torch.empty(2**28, device="cuda"), torch.empty(2**21, 32, device="cuda"), []
    began = time.monotonic()
    while len(took) < 30 or time.monotonic() < began + 0.3:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        other.zero_()
        begin.record()
        torch.index_select(rows, 0, places, out=out)
        end.record()
        torch.cuda.synchronize()
        took.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(took[-30:])
"""
SLOTS = 6 * 524_337_152  # of a problem with 524 MB of logits, a multiple of 2 MB no more than of 64 KB


def said(program: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [float(word) for word in done.stdout.split()]


def test_what_is_shared_holds_nothing_else() -> None:
    """Neither a neighbour that is alive, nor what was freed."""
    look = f"{OPEN}print(memory.numel(), int(memory.count_nonzero()))"
    program = f"""{OWN}
private = [GpuMemory(512) for _ in range(3)]
freed = [GpuMemory(2**21) for _ in range(64)]
for one in private + freed:
    one.view.fill_(77)
while freed:
    freed.pop().release()
bare = driver.as_tensor(driver.allocate(2**21), 2**21)
print(int(bare.count_nonzero()))
shared = GpuMemory(512)
opened(shared.handle, {look!r})
"""
    left, reached, found = said(program)
    assert (reached, found) == (2**21, 0)
    assert left, "what was freed did not come back: this shows nothing of whether it is emptied"


def test_it_is_as_fast_as_a_process_own() -> None:
    """With arenas of such a length a kernel that reads many rows at once took half as long again."""
    look = f"{OPEN}{READ}print(microseconds(memory))"
    program = f"""{OWN}{READ}
shared = GpuMemory({SLOTS})
print(microseconds(shared.view))
opened(shared.handle, {look!r})
shared.release()
opened(driver.export(driver.allocate({SLOTS})), {look!r})
"""
    own, shared, bare = said(program)
    print(f"own {own:.0f} us, shared {shared:.0f} us, shared but not in whole pages {bare:.0f} us")
    assert shared <= 1.15 * own
