"""The layers of the jail, in the order in which they are put on, and the probe that finds which work here."""

from __future__ import annotations

import contextlib
import os
import resource
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from kbench.jail import landlock, linux, seccomp
from kbench.records import Record

NAMESPACES = ("user", "pid", "mount", "network", "ipc")
LAYERS = (*NAMESPACES, "pid_max", "no_new_privs", "capabilities", "landlock", "seccomp")
SCRATCH = "/dev/shm/kbench"
KEPT = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")
LEFT_OUT = "left out"
MAX_PROCESSES = 256  # watched
MAX_PIDS = 4096  # threads included; the kernel's own bound, where it has one for a namespace
MAX_OPEN_FILES = 8192
_FLAGS = {
    "user": linux.CLONE_NEWUSER,
    "pid": linux.CLONE_NEWPID,
    "mount": linux.CLONE_NEWNS,
    "network": linux.CLONE_NEWNET,
    "ipc": linux.CLONE_NEWIPC,
}


class Limits(Record, frozen=True):
    memory_bytes: int
    data_limit: bool  # RLIMIT_DATA; never on CUDA, whose driver reserves far more than it uses
    scratch_bytes: int = 4 * 2**30
    processes: int = MAX_PROCESSES
    file_bytes: int = 8 * 2**30


def enter_namespaces(layers: frozenset[str]) -> None:
    """Before the fork of the keeper: the user namespace first, it permits the rest."""
    uid, gid = os.getuid(), os.getgid()
    if "user" in layers:
        linux.unshare(linux.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    rest = sum(_FLAGS[name] for name in NAMESPACES if name in layers and name != "user")
    if rest:
        linux.unshare(rest)


def mount_own(layers: frozenset[str], scratch_bytes: int) -> None:
    """As the keeper, in the new namespaces: all read-only but for an own `/proc`, less its `sys`, and `/dev/shm`."""
    if "mount" not in layers:
        return
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount_read_only("/")
    if "pid" in layers:
        safe = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
        linux.mount("proc", "/proc", "proc", safe)
        if "pid_max" in layers:
            Path("/proc/sys/kernel/pid_max").write_text(str(MAX_PIDS))
        linux.mount("/proc/sys", "/proc/sys", None, linux.MS_BIND | linux.MS_REC)
        linux.mount("none", "/proc/sys", None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | safe)
    options = f"size={scratch_bytes},mode=1777"
    linux.mount("tmpfs", "/dev/shm", "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)


def hide_the_rest(layers: frozenset[str], reads: tuple[str, ...], ways: tuple[str, ...]) -> None:
    """Covers what lies beside the readable places, so that not even its existence shows. Landlock lets one ask that.

    `ways` are those places as they are named: the links on the way to them stay.
    """
    if "mount" not in layers:
        return
    links = dict(link for way in ways for link in _links_to(Path(way)))
    for top in (path for path in Path("/").iterdir() if path.is_dir() and not path.is_symlink()):
        below = [path for path in map(Path, reads) if path.is_relative_to(top)]
        if str(top) not in KEPT and top not in below:
            _cover(top, below, {link: to for link, to in links.items() if link.is_relative_to(top)})


def _links_to(way: Path) -> Iterator[tuple[Path, str]]:
    """Every symbolic link that resolving the path goes through, and what it says."""
    for folder in (*reversed(way.parents), way):
        if folder.is_symlink():
            target = folder.readlink()
            yield folder, str(target)
            onwards = folder.parent / target
            yield from _links_to(Path(os.path.normpath(onwards)) / way.relative_to(folder))
            return


def _cover(top: Path, kept: list[Path], links: dict[Path, str]) -> None:
    """An empty folder in the place of `top`, with the places to keep bound into it, and the links to them."""
    held = {path: os.open(path, os.O_PATH) for path in sorted(kept) if path.exists()}
    linux.mount("tmpfs", str(top), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=1m,mode=0755")
    for path, fd in held.items():
        if not path.exists():  # below another one it is there already
            is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
            (path if is_folder else path.parent).mkdir(parents=True, exist_ok=True)
            if not is_folder:
                path.touch()
            linux.mount(f"/proc/self/fd/{fd}", str(path), None, linux.MS_BIND | linux.MS_REC)
        os.close(fd)
    for link, target in links.items():
        if not link.exists() and not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    linux.mount("none", str(top), None, linux.MS_REMOUNT | linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV)


def confine(
    layers: frozenset[str], limits: Limits, reads: tuple[str, ...], scratch: str, nodes: tuple[str, ...] = ()
) -> None:
    """As the worker, last: nothing that follows can take these off again. `nodes` are devices that it may use."""
    _limit(limits)
    if "no_new_privs" in layers:
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    if "landlock" in layers:
        landlock.apply(reads, (scratch, *nodes, "/dev/shm") if "mount" in layers else (scratch, *nodes))
    if "capabilities" in layers:
        linux.drop_capabilities()
    if "seccomp" in layers:
        seccomp.apply()


def probe(without: frozenset[str] = frozenset()) -> tuple[frozenset[str], dict[str, str]]:
    """Which layers work here, each tried in a child; and what stood in the way of the others.

    What is `without` is left out, to see what it is good for.
    """
    works, why = _probed()
    return works - without, why | dict.fromkeys(works & without, LEFT_OUT)


def _probed() -> tuple[frozenset[str], dict[str, str]]:
    works: set[str] = set()
    why: dict[str, str] = {}
    _try("user", frozenset({"user", "pid", "mount"}), works, why, gives=("user", "pid", "mount"))
    for name in ("network", "ipc"):
        _try(name, frozenset({*works, name}), works, why)
    if "mount" in works:
        _try("pid_max", frozenset({*works, "pid_max"}), works, why)
    for name in ("no_new_privs", "capabilities", "landlock", "seccomp"):
        _try(name, frozenset({*works, name}), works, why)
    return frozenset(works), {name: why.get(name, "needs mount") for name in LAYERS if name not in works}


def _try(name: str, layers: frozenset[str], works: set[str], why: dict[str, str], gives: tuple[str, ...] = ()) -> None:
    error = _in_child(lambda: _put_on(layers))
    if error is None:
        works.update(gives or (name,))
    else:
        why.update(dict.fromkeys(gives or (name,), error))


def _put_on(layers: frozenset[str]) -> None:
    enter_namespaces(layers)
    error = _in_child(lambda: _inside(layers))
    if error is not None:
        raise OSError(error)


def _inside(layers: frozenset[str]) -> None:
    mount_own(layers, 1 << 20)
    limits = Limits(memory_bytes=2**40, data_limit=False)
    confine(layers, limits, ("/usr", "/proc"), "/dev/shm")


def _in_child(action: Callable[[], None]) -> str | None:
    """None where the action worked in a forked child, else its error."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            action()
            os._exit(0)
        except OSError as error:
            os.write(writer, (error.strerror or str(error)).encode()[:200])
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    return None if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 else text or "failed"


def most_open_files(hard: int) -> int:
    """The kernel counts what descriptors of a user wait in sockets, and holds that against the limit of who sends the
    next: what workers let wait there must leave the referee some.
    """
    return MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard // 2)


def _limit(limits: Limits) -> None:
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: most_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
        resource.RLIMIT_NPROC: MAX_PIDS,
    }
    if limits.data_limit:
        wanted[resource.RLIMIT_DATA] = limits.memory_bytes
    for which, bound in wanted.items():
        hard = resource.getrlimit(which)[1]
        value = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(which, (value, value))
