"""Artifacts by content address. A finished entry is a folder that appears by one rename and never changes.

Nothing here needs cleaning up after a process that was killed: half-made entries are never found and go in time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Literal

import msgspec

from kbench import units
from kbench.errors import MachineFault, UsageFault
from kbench.records import Kernel, Record

FORMAT = 2
STALE_S = 3600.0
FAILURE_S = 600.0
STALE_LOG_S = 7 * 24 * 3600.0
LIMIT = 20 * 2**30
MAX_LOGS = 100


class Entry(Record, frozen=True):
    name: str
    sha256: str
    seconds: float
    log: str
    path: Literal["light", "full", "glue"] = "full"
    why_full: str | None = None
    kernels: tuple[Kernel, ...] = ()
    glue: str | None = None  # the key of the entry that a light artifact needs beside it


class Kept(Record, frozen=True):
    """An entry as the listing shows it; `entry` is None where it is damaged."""

    key: str
    entry: Entry | None
    size: int
    used: float  # seconds since 1970


class Cache:
    """`folder` None means a private one that goes with the process, for a home that cannot be written."""

    def __init__(self, folder: Path | None, shared: Path | None = None, limit: int = LIMIT) -> None:
        self._private = tempfile.TemporaryDirectory(prefix="kbench-cache-") if folder is None else None
        self.folder = Path(self._private.name) if self._private else folder or Path()
        self.shared = shared  # another folder to read from, when that one cannot be written
        self.limit = limit
        self._sweep()

    def find(self, key: str) -> tuple[Entry, Path] | None:
        """The entry and its artifact, if both are whole. Finding it counts as using it."""
        for base in (self.folder, self.shared):
            entry = _read(base / key) if base else None
            if base and entry:
                with contextlib.suppress(OSError):
                    os.utime(base / key)
                return entry, base / key / "artifact.so"
        return None

    def store(self, key: str, entry: Entry, artifact: bytes) -> tuple[Entry, Path]:
        """Keeps it, then makes room for it."""
        try:
            fresh = Path(tempfile.mkdtemp(prefix="new-", dir=self.folder))
            try:
                (fresh / "artifact.so").write_bytes(artifact)
                (fresh / "entry.json").write_bytes(msgspec.json.encode(entry))
                self._publish(fresh, self.folder / key)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
        except OSError as error:
            raise MachineFault(
                f"cannot keep a build in {self.folder}: {error.strerror}",
                "free some disk, or point KBENCH_CACHE at a folder with room",
            ) from None
        self.prune(self.limit, keep=(key, entry.glue or ""))
        return entry, self.folder / key / "artifact.so"

    def keep_log(self, key: str, log: str) -> str | None:
        """A failed build's whole log; where it is, if it could be kept."""
        target = self.folder / f"log-{key[:16]}.txt"
        with contextlib.suppress(OSError):
            target.write_text(log, errors="replace")
            for old in sorted(self.folder.glob("log-*"), key=lambda path: -path.stat().st_mtime)[MAX_LOGS:]:
                old.unlink()
            return None if self._private else str(target)
        return None

    def note_failure(self, key: str, told: bytes) -> None:
        """Remembers for a while what does not build: who builds ahead and who evaluates ask one after the other."""
        with contextlib.suppress(OSError):
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix="new-", delete=False) as file:
                file.write(told)
            Path(file.name).replace(self.folder / f"failed-{key}")

    def failure(self, key: str) -> bytes | None:
        path = self.folder / f"failed-{key}"
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime < FAILURE_S:
                return path.read_bytes()
        return None

    def kept(self, check: bool = False) -> list[Kept]:
        """Everything in the folder, the most recently used first. With `check` every artifact is read."""
        found = [_kept(path, check) for path in self.folder.iterdir() if len(path.name) == 64]
        return sorted((entry for entry in found if entry), key=lambda entry: -entry.used)

    def close(self) -> None:
        """A private cache goes with its process."""
        if self._private:
            self._private.cleanup()

    def surplus(self, limit: int, keep: tuple[str, ...] = ()) -> list[Kept]:
        """What has to go for the rest to fit, the longest unused first."""
        entries, chosen = self.kept(), []
        total = sum(entry.size for entry in entries)
        for entry in reversed(entries):
            if total > limit and entry.key not in keep:
                chosen.append(entry)
                total -= entry.size
        return chosen

    def prune(self, limit: int, keep: tuple[str, ...] = ()) -> list[Kept]:
        """Removes the surplus; what was removed."""
        gone = self.surplus(limit, keep)
        for entry in gone:
            self.remove(entry.key)
        return gone

    def remove(self, key: str) -> None:
        # Renamed first: an entry is there whole or not at all, also while its files go.
        with contextlib.suppress(OSError):
            gone = Path(tempfile.mkdtemp(prefix="new-", dir=self.folder))
            (self.folder / key).rename(gone / key)
            shutil.rmtree(gone, ignore_errors=True)

    def _publish(self, fresh: Path, target: Path) -> None:
        try:
            fresh.rename(target)
        except OSError:
            if self.find(target.name):
                return  # someone else was first, and may be reading it
            self.remove(target.name)  # damaged: ours replaces it
            fresh.rename(target)

    def _sweep(self) -> None:
        """Half-made entries of processes that were killed, and logs that nobody came back for."""
        for pattern, patience in (("new-*", STALE_S), ("failed-*", FAILURE_S), ("log-*", STALE_LOG_S)):
            sweep(self.folder, pattern, patience)


def sweep(folder: Path, pattern: str, patience_s: float) -> None:
    """Removes what nothing was done to for so long."""
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):  # another process may be sweeping too
            if time.time() - path.stat().st_mtime > patience_s:
                _delete(path)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(folder: Path, check: bool = True) -> Entry | None:
    try:
        entry = msgspec.json.decode((folder / "entry.json").read_bytes(), type=Entry)
        intact = not check or digest((folder / "artifact.so").read_bytes()) == entry.sha256
    except (OSError, msgspec.DecodeError):
        return None
    return entry if intact else None


def _kept(folder: Path, check: bool) -> Kept | None:
    try:
        size = sum(path.lstat().st_size for path in folder.iterdir())
        return Kept(folder.name, _read(folder, check), size, folder.stat().st_mtime)
    except OSError:
        # Removed while we looked, or no folder at all, which is damage.
        return Kept(folder.name, None, 0, 0.0) if folder.exists() or folder.is_symlink() else None


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def opened() -> Cache:
    """The user's cache, as large as KBENCH_CACHE_SIZE says; a private one where its folder cannot be written."""
    folder = default_folder()
    shared = named_folder() if folder is None else None
    return Cache(folder, shared, size_limit())


def size_limit() -> int:
    given = os.environ.get("KBENCH_CACHE_SIZE")
    if not given:
        return LIMIT
    try:
        return units.parse_bytes(given)
    except ValueError:
        raise UsageFault(f"KBENCH_CACHE_SIZE {given!r} is no size", "for instance KBENCH_CACHE_SIZE=5GB") from None


def default_folder() -> Path | None:
    """KBENCH_CACHE, else below the user's cache folder; None where that cannot be written."""
    folder = named_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError:
        return None
    return folder.resolve()


def named_folder() -> Path:
    """Where the cache is to be, whether or not it can be."""
    named = os.environ.get("KBENCH_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(named) if named else Path(base) / "kbench" / f"builds-{FORMAT}"
