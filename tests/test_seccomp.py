from __future__ import annotations

import ctypes
import errno
import os
import struct
import subprocess
import sys
import threading

import pytest
from kbench.jail import seccomp
from test_jail import FULL, run

ALLOWED, REFUSED, MISSING = seccomp.ALLOW, seccomp.ERROR | errno.EPERM, seccomp.ERROR | errno.ENOSYS
READ = {0: 0, 1: 63}
NEW_USER, THREAD = 0x10000000, 0x3D0F00


def answer(machine: int, number: int, first: int = 0, architecture: int | None = None) -> int:
    """What the kernel would make of the filter."""
    architecture = seccomp.ARCHITECTURE[machine] if architecture is None else architecture
    data = struct.pack("=IIQQ", number, architecture, 0, first)
    value, at = 0, 0
    steps = seccomp.program(machine)
    while True:
        code, yes, no, constant = steps[at]
        at += 1
        if code == seccomp.RETURN:
            return constant
        if code == seccomp.LOAD:
            (value,) = struct.unpack_from("=I", data, constant)
            continue
        holds = {
            seccomp.EQUAL: value == constant,
            seccomp.AT_LEAST: value >= constant,
            seccomp.ANY_BIT: bool(value & constant),
        }[code]
        at += yes if holds else no


@pytest.mark.parametrize("machine", [0, 1])
def test_what_the_filter_says(machine: int) -> None:
    assert answer(machine, READ[machine]) == ALLOWED
    for name, numbers in seccomp.DENIED.items():
        assert answer(machine, numbers[machine]) == REFUSED, name
    assert answer(machine, seccomp.CLONE3[machine]) == MISSING
    assert answer(machine, seccomp.CLONE[machine], THREAD) == ALLOWED
    assert answer(machine, seccomp.CLONE[machine], THREAD | NEW_USER) == REFUSED
    assert answer(machine, READ[machine], architecture=0x40000003) == REFUSED  # 32-bit calls have other numbers
    assert answer(machine, seccomp.X32 | 101) == REFUSED


def calling(number: int, *arguments: int) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(number, *map(ctypes.c_long, arguments))
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]


@FULL
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
@pytest.mark.parametrize("name", ["ptrace", "unshare", "bpf", "io_uring_setup", "perf_event_open", "pidfd_getfd"])
def test_a_worker_cannot_call(name: str) -> None:
    assert "did 'EPERM'" in run(lambda: calling(seccomp.DENIED[name][0], 0, 0, 0, 0, 0))


@FULL
def test_threads_and_children_still_work() -> None:
    def live() -> str:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        return subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout

    assert "did '42\\n'" in run(live)
