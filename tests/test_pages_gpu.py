"""Memory that a referee shares with a worker, seen from there. Run with `pytest -m gpu`."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.gpu

# What a process does with the descriptor of another's memory.
OPEN = """
import ctypes, sys, torch
from kbench.device import driver
from kbench.device.cuda import whole_pages
torch.zeros(1, device="cuda")
fd, count = map(int, sys.argv[1:])
memory = driver.as_tensor(driver.open_shared(fd, whole_pages(count)), whole_pages(count))
"""
OWN = """
import ctypes, subprocess, sys, torch
from kbench.device import driver
from kbench.device.cuda import GpuMemory
torch.zeros(1, device="cuda")
def opened(shared, look):
    command = [sys.executable, "-c", look, str(shared.fd), str(shared.view.numel())]
    done = subprocess.run(command, pass_fds=[shared.fd], capture_output=True, text=True)
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
# Counts on from a handle that it was given, and says what stands in the memory that it so opens.
GUESS = """
import ctypes, struct, sys, torch
from kbench.device import driver
torch.zeros(1, device="cuda")
class Handle(ctypes.Structure):
    _fields_ = [("words", ctypes.c_char * 64)]
words, found = list(struct.unpack("<16I", bytes.fromhex(sys.argv[1]))), set()
for _ in range(64):
    pointer, handle = ctypes.c_uint64(), Handle.from_buffer_copy(struct.pack("<16I", *words))
    if driver._driver().cuIpcOpenMemHandle_v2(ctypes.byref(pointer), handle, 1) == 0:
        found.add(int(driver.as_tensor(pointer.value, 1)[0]))
    words[13] += 1
print(*sorted(found))
"""
SLOTS = 6 * 524_337_152  # of a problem with 524 MB of logits, a multiple of 2 MB no more than of 64 KB


def said(program: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [float(word) for word in done.stdout.split()]


def test_what_is_shared_holds_nothing_else() -> None:
    """Neither a neighbour that is alive, nor what was freed."""
    look = f"""{OPEN}
print(memory.numel(), int(memory.count_nonzero()))
try:
    driver.open_shared(fd, 2 * whole_pages(count))
    print("more can be mapped")
except RuntimeError:
    pass
"""
    program = f"""{OWN}
private = [GpuMemory(512) for _ in range(3)]
freed = [GpuMemory(2**21) for _ in range(64)]
for one in private + freed:
    one.view.fill_(77)
while freed:
    freed.pop().release()
opened(GpuMemory(512), {look!r})
"""
    assert said(program) == [2**21, 0]


def test_what_is_released_is_free() -> None:
    program = f"""{OWN}
GpuMemory(2**21).release()
before = torch.cuda.mem_get_info()[0]
for _ in range(20):
    shared = GpuMemory(2**30)
    opened_here = driver.open_shared(shared.fd, 2**30)
    driver.as_tensor(opened_here, 2**30)[-1].fill_(1)
    assert int(shared.view[-1]) == 1
    driver.unmap(opened_here, 2**30)
    shared.release()
print(before - torch.cuda.mem_get_info()[0])
"""
    (lost,) = said(program)
    assert lost < 2**26


def test_no_number_leads_to_it() -> None:
    """Of the older kind of handle one leads to all others of its owner."""
    program = f"""{OWN}
class Handle(ctypes.Structure):
    _fields_ = [("words", ctypes.c_char * 64)]
def of_the_older_kind(value):
    pointer, handle = ctypes.c_uint64(), Handle()
    driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(2**21))
    driver.as_tensor(pointer.value, 2**21).fill_(value)
    driver.call("cuIpcGetMemHandle", ctypes.byref(handle), pointer)
    return bytes(bytearray(handle)).hex()
given = of_the_older_kind(1)
shared = [GpuMemory(2**21) for _ in range(4)]
for one in shared:
    one.view.fill_(2)
of_the_older_kind(3)
torch.cuda.synchronize()
done = subprocess.run([sys.executable, "-c", {GUESS!r}, given], capture_output=True, text=True)
assert done.returncode == 0, done.stderr
print(done.stdout)
"""
    assert said(program) == [1, 3]


def test_it_is_as_fast_as_a_process_own() -> None:
    """With arenas of such a length a kernel that reads many rows at once took half as long again."""
    look = f"{OPEN}{READ}print(microseconds(memory))"
    program = f"""{OWN}{READ}
own = torch.zeros({SLOTS}, dtype=torch.uint8, device="cuda")
print(microseconds(own))
del own
torch.cuda.empty_cache()
opened(GpuMemory({SLOTS}), {look!r})
"""
    own, shared = said(program)
    print(f"own {own:.0f} us, shared {shared:.0f} us")
    assert shared <= 1.15 * own
