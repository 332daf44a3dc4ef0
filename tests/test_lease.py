from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

from kbench.device.lease import Lease

HOLDER = """
import sys, time
from kbench.device.lease import Lease
lease = Lease(sys.argv[1])
lease.acquire(lambda pid: None)
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_holder_waits_and_is_told_by_whom() -> None:
    name = f"test-{os.getpid()}-a"
    first, second = Lease(name), Lease(name)
    first.acquire(lambda pid: None)
    told: list[int | None] = []
    waited: list[float] = []
    thread = threading.Thread(target=lambda: waited.append(second.acquire(told.append)))
    thread.start()
    time.sleep(0.3)
    first.release()
    thread.join(5)
    assert waited and 0.2 < waited[0] < 3
    assert len(told) == 1
    second.release()


def test_the_lease_of_a_killed_process_is_free() -> None:
    name = f"test-{os.getpid()}-b"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, name], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    told: list[int | None] = []
    threading.Timer(0.3, holder.kill).start()
    own = Lease(name)
    assert own.acquire(told.append) < 5
    assert told == [holder.pid]
    holder.wait()
    own.release()


def test_it_nests() -> None:
    lease = Lease(f"test-{os.getpid()}-c")
    assert lease.acquire(lambda pid: None) == 0.0
    assert lease.acquire(lambda pid: None) == 0.0
    lease.release()
    other = Lease(f"test-{os.getpid()}-c")
    assert not other._try()
    lease.release()
    assert other._try()
    other.release()
