"""`results.jsonl`: one line a result, appended the moment it exists, under a lock that ends with its holder."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from kbench.errors import MachineFault, UsageFault
from kbench.records import SCHEMA, Result

RESULTS = "results.jsonl"
FREE_SOME = "free some disk, then run the same command again: what is saved is not run twice"


class Store:
    """The results of one run. Only one process at a time writes to them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RESULTS
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b", buffering=0)
        except OSError as error:
            raise MachineFault(f"cannot write to {self.path}: {error.strerror}", "name another --output") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            fix = "wait for it, end it, or name another --output"
            raise MachineFault(f"another kbench run is writing to {self.path}", fix) from None
        self.torn = self._cut()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, result: Result) -> None:
        """All of the line or nothing; on the disk when this returns."""
        line = result.to_json().encode() + b"\n"
        before = os.fstat(self._file.fileno()).st_size
        try:
            written = 0
            while written < len(line):
                written += self._file.write(line[written:])
            with contextlib.suppress(OSError):
                os.fsync(self._file.fileno())  # not every filesystem can
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file.fileno(), before)
            raise MachineFault(f"cannot write a result to {self.path}: {error.strerror}", FREE_SOME) from None

    def _cut(self) -> int:
        """Removes what a kill in the middle of a write left of a line; how many bytes that were."""
        data = self.path.read_bytes() if self.path.is_file() else b""
        if data and not data.startswith(b'{"schema"'):
            raise UsageFault(f"{self.path} holds something else than results", "name another --output")
        tail = data[data.rfind(b"\n") + 1 :]
        if tail and _is_whole(tail):
            self._file.write(b"\n")  # an editor took the end of the line away
            return 0
        if tail:
            os.ftruncate(self._file.fileno(), len(data) - len(tail))
        return len(tail)


def read(path: Path) -> list[Result]:
    """The whole lines of a results file, or of the one in a folder. A line that is no result is an error."""
    file = path / RESULTS if path.is_dir() else path
    if file.exists() and not file.is_file():
        raise UsageFault(f"{file} is no plain file", "name a results.jsonl or its folder")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageFault(f"cannot read {file}: {error.strerror}", "name a results.jsonl or its folder") from None
    lines = data[: data.rfind(b"\n") + 1].splitlines() if data else []
    return [_result(line, file, number) for number, line in enumerate(lines, 1) if line.strip()]


def read_all(paths: Iterable[Path]) -> list[Result]:
    return [result for path in paths for result in read(path)]


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=Result)
    except msgspec.DecodeError:
        return False
    return True


def _result(line: bytes, file: Path, number: int) -> Result:
    try:
        result = msgspec.json.decode(line, type=Result)
        if result.schema != SCHEMA or (result.timing and not result.timing.median_ms > 0):
            raise msgspec.DecodeError("another schema, or a time that is none")
        return result
    except msgspec.DecodeError as error:
        made_by = f"; this version reads schema {SCHEMA}" if b'"schema"' in line[:20] else ""
        raise UsageFault(f"{file}:{number}: no result: {error}{made_by}", "remove that line") from None
