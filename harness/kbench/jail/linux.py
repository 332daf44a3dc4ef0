"""Thin wrappers of the system calls that Python lacks. Each raises OSError."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NAME = 1, 4, 15
PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 24, 36, 38
SYS_CAPSET = 126 if os.uname().machine == "x86_64" else 91
CAPABILITY_VERSION_3 = 0x20080522
LAST_CAPABILITY = 63
SYS_MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
SYS_SECCOMP = 317 if os.uname().machine == "x86_64" else 277
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW = 1, 4


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    encoded = [text.encode() if text is not None else None for text in (source, target, kind, options)]
    result = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    _checked(result, f"mount {target}")


def mount_read_only(target: str) -> None:
    """And every mount below it. Kernels before 5.12 cannot: there Landlock alone keeps writers away."""
    read_only = struct.pack("QQQQ", 1, 0, 0, 0)
    path = ctypes.c_char_p(target.encode())
    result = _libc.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, path, AT_RECURSIVE, read_only, ctypes.c_size_t(len(read_only)))
    if result < 0 and ctypes.get_errno() != errno.ENOSYS:
        _checked(int(result), f"mount {target}")


def prctl(option: int, value: int) -> None:
    _checked(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def set_name(name: str) -> None:
    """The name that ps, top and pgrep show; 15 bytes."""
    buffer = ctypes.create_string_buffer(name.encode()[:15])
    _checked(_libc.prctl(PR_SET_NAME, buffer, 0, 0, 0), "prctl name")


def die_with_parent(expected_parent: int) -> None:
    """SIGKILL for us when our parent ends; at once where it already has."""
    prctl(PR_SET_PDEATHSIG, 9)
    if os.getppid() != expected_parent:
        os._exit(1)


def drop_capabilities() -> None:
    for capability in range(LAST_CAPABILITY + 1):
        _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    _checked(_libc.syscall(SYS_CAPSET, header, bytes(24)), "capset")


def filter_calls(program: bytes) -> None:
    """A seccomp filter of 8 bytes a step."""
    steps = ctypes.create_string_buffer(program)
    described = struct.pack("@HP", len(program) // 8, ctypes.addressof(steps))
    # Without this flag older kernels slow the whole process against speculation.
    result = _libc.syscall(SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, described)
    _checked(int(result), "seccomp")


def landlock_abi() -> int:
    """0 where the kernel has no Landlock."""
    return max(0, int(_libc.syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def landlock_create(filesystem: int, network: int, scoped: int, abi: int) -> int:
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    attributes = struct.pack("QQQ", filesystem, network, scoped)[:size]
    fd = int(_libc.syscall(444, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)))
    return _checked(fd, "landlock_create_ruleset")


def landlock_allow(ruleset: int, rights: int, path_fd: int) -> None:
    rule = struct.pack("=Qi", rights, path_fd)
    _checked(int(_libc.syscall(445, ruleset, 1, rule, ctypes.c_uint32(0))), "landlock_add_rule")


def landlock_restrict(ruleset: int) -> None:
    _checked(int(_libc.syscall(446, ruleset, ctypes.c_uint32(0))), "landlock_restrict_self")


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result
