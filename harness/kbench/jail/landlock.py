"""File access by allow-list: what may be read, what may be written; everything else is refused.

Writing never covers `/proc` or `/dev` whole: as root that would leave `/proc/sys/kernel/core_pattern` writable,
the classic way out.
"""

from __future__ import annotations

import contextlib
import os
import site
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from kbench.jail import linux

EXECUTE, WRITE, READ, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
ALL_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
ON_FILES = EXECUTE | WRITE | READ | TRUNCATE | IOCTL_DEV
BIND_AND_CONNECT_TCP = 3
SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 3

SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/sys", "/proc", "/dev")
# As root the owner's bits apply even without capabilities, so /etc is not opened whole: /etc/shadow is in it.
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf", "passwd", "group", "hosts")
ETC_MORE = ("alternatives", "nvidia", "vulkan", "OpenCL", "os-release", "host.conf")
COMPILERS = ("c++", "g++", "gcc", "cc", "clang", "clang++", "nvcc", "ld", "ninja")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/proc/self")


def readable(extra: Iterable[str] = ()) -> tuple[str, ...]:
    """What Python, torch, CUDA and the toolchain resolve to, wherever they lie."""
    return tuple(dict.fromkeys(str(Path(place).resolve()) for place in named(extra)))


def named(extra: Iterable[str] = ()) -> tuple[str, ...]:
    """The same places as they are named, which may lead through links."""
    places = [*SYSTEM, *(f"/etc/{name}" for name in (*ETC, *ETC_MORE)), sys.prefix, sys.base_prefix]
    places += [*sys.path, *site.getsitepackages(), sys.exec_prefix, *extra]
    places += [str(home) for home in _compiler_homes()]
    for variable in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "PATH"):
        places += os.environ.get(variable, "").split(":")
    return tuple(dict.fromkeys(place for place in places if _safe(place)))


def _compiler_homes() -> list[Path]:
    """Compilers keep their headers and libraries beside their bin folder; any on the PATH may be asked."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(":") if folder]
    named = [Path(os.environ[name]).parent for name in ("CC", "CXX") if "/" in os.environ.get(name, "")]
    found = [folder for folder in (*folders, *named) if any((folder / name).exists() for name in COMPILERS)]
    tools = [folder / name for folder in found for name in COMPILERS if (folder / name).exists()]
    return [*(folder.parent for folder in found), *(tool.resolve().parent.parent for tool in tools)]


def apply(reads: Iterable[str], writes: Iterable[str]) -> str:
    """Restricts this process for good. Says which version of Landlock did it."""
    abi = linux.landlock_abi()
    if abi < 1:
        raise OSError("the kernel has no Landlock")
    handled = ALL_BY_ABI[max(known for known in ALL_BY_ABI if known <= abi)]
    network = BIND_AND_CONNECT_TCP if abi >= 4 else 0
    scoped = SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0
    ruleset = linux.landlock_create(handled, network, scoped, abi)
    try:
        for path in reads:
            _allow(ruleset, path, handled & (EXECUTE | READ | READ_DIR))
        for path in (*writes, *DEVICES):
            _allow(ruleset, path, handled)
        linux.landlock_restrict(ruleset)
    finally:
        os.close(ruleset)
    return f"abi {abi}"


def _allow(ruleset: int, path: str, rights: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
            linux.landlock_allow(ruleset, rights if is_folder else rights & ON_FILES, fd)
        finally:
            os.close(fd)


def _safe(place: str) -> bool:
    # An entry of PATH or sys.path may be the home or the root itself, and would open everything below it.
    if not place or not Path(place).exists():
        return False
    resolved = Path(place).resolve()
    return resolved not in (Path("/"), Path.home(), Path.cwd(), Path("/tmp"), Path("/root"), Path("/home"))
