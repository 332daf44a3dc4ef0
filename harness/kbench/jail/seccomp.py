"""System calls that no solution needs and that reach out of the jail or into other processes: each answers EPERM.

The filter is the kernel's classic BPF, written out here. It covers what namespaces and Landlock do not: tracing
processes of the same jail, kernel interfaces with a history of holes, and namespaces of the worker's own.
"""

from __future__ import annotations

import errno
import os
import struct

from kbench.jail import linux

# By name: its number on x86_64 and on aarch64.
DENIED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
}
CLONE, CLONE3 = (56, 220), (435, 435)
MACHINES = {"x86_64": 0, "aarch64": 1}
ARCHITECTURE = (0xC000003E, 0xC00000B7)
X32 = 0x40000000  # the same calls under other numbers
NEW_NAMESPACES = 0x7E020000

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, FIRST_ARGUMENT = 0, 4, 16
ALLOW, ERROR = 0x7FFF0000, 0x00050000
Step = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def apply() -> None:
    """For this process and all it starts, for good."""
    machine = os.uname().machine
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, f"no filter for {machine}")
    linux.filter_calls(b"".join(struct.pack("=HBBI", *step) for step in program(MACHINES[machine])))


def program(machine: int) -> list[Step]:
    """The filter as steps: the kernel runs it at every system call, and remembers what it always allows."""
    refused = _error(errno.EPERM)
    steps = [
        (LOAD, 0, 0, ARCH),
        (EQUAL, 1, 0, ARCHITECTURE[machine]),
        refused,
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, X32),
        refused,
        # glibc goes on to clone, whose flags a filter can see.
        (EQUAL, 0, 1, CLONE3[machine]),
        _error(errno.ENOSYS),
    ]
    for numbers in DENIED.values():
        steps += [(EQUAL, 0, 1, numbers[machine]), refused]
    return [
        *steps,
        (EQUAL, 0, 3, CLONE[machine]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (ANY_BIT, 0, 1, NEW_NAMESPACES),
        refused,
        (RETURN, 0, 0, ALLOW),
    ]


def _error(code: int) -> Step:
    return (RETURN, 0, 0, ERROR | code)
