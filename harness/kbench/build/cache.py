"""Artifacts by content address. A finished entry is a folder that appears by one rename and never changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import msgspec

from kbench.errors import MachineFault
from kbench.records import Record

FORMAT = 1
STALE_S = 3600.0


class Entry(Record, frozen=True):
    name: str
    sha256: str
    seconds: float
    log: str


class Cache:
    """`folder` None means a private one that goes with the process, for a home that cannot be written."""

    def __init__(self, folder: Path | None) -> None:
        self._private = tempfile.TemporaryDirectory(prefix="kbench-cache-") if folder is None else None
        self.folder = Path(self._private.name) if self._private else folder or Path()
        self._sweep()

    def find(self, key: str) -> tuple[Entry, Path] | None:
        folder = self.folder / key
        try:
            entry = msgspec.json.decode((folder / "entry.json").read_bytes(), type=Entry)
            artifact = folder / "artifact.so"
            intact = hashlib.sha256(artifact.read_bytes()).hexdigest() == entry.sha256
        except (OSError, msgspec.DecodeError):
            return None
        return (entry, artifact) if intact else None

    def store(self, key: str, name: str, artifact: bytes, seconds: float, log: str) -> tuple[Entry, Path]:
        entry = Entry(name=name, sha256=hashlib.sha256(artifact).hexdigest(), seconds=seconds, log=log)
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
        return entry, self.folder / key / "artifact.so"

    def _publish(self, fresh: Path, target: Path) -> None:
        try:
            fresh.rename(target)
        except OSError:
            if self.find(target.name):
                return  # someone else was first, and may be reading it
            shutil.rmtree(target, ignore_errors=True)  # damaged: ours replaces it
            fresh.rename(target)

    def _sweep(self) -> None:
        """Half-made entries of processes that were killed."""
        for path in self.folder.glob("new-*"):
            with contextlib.suppress(OSError):  # another process may be sweeping too
                if time.time() - path.stat().st_mtime > STALE_S:
                    shutil.rmtree(path, ignore_errors=True)


def default_folder() -> Path | None:
    """KBENCH_CACHE, else below the user's cache folder; None where that cannot be written."""
    named = os.environ.get("KBENCH_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(named) if named else Path(base) / "kbench" / f"builds-{FORMAT}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError:
        return None
    return folder.resolve()
