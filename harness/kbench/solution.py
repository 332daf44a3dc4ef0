"""A solution: a file or folder with `ModelNew`, or a language model's reply that holds one."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kbench import reply
from kbench.catalog import FOLDER_ENTRY
from kbench.errors import UsageFault
from kbench.records import Record
from kbench.settings import ENTRIES

REPLY_SUFFIXES = (".md", ".txt")
TEXT_SUFFIXES = (".py", ".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh", ".inl")
MAX_TEXT = 4 * 2**20
MAX_FOLDER_BYTES = 256 * 2**20


class Source(Record, frozen=True):
    """A solution as text. `fault` says why it can never be loaded; that is a verdict, not an error."""

    id: str
    sha256: str
    path: str
    text: str | None
    folder: str | None = None
    lines: tuple[int, int] | None = None
    fault: str | None = None


def read(path: Path, id: str, entry: str | None) -> Source:
    file = path / FOLDER_ENTRY if path.is_dir() else path
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageFault(f"cannot read the solution {file}: {error.strerror}", "check its permissions") from None
    source = _from_bytes(data, file, id, entry)
    if not path.is_dir():
        return source
    try:
        sha256, fault = _folder_hash(path), _folder_fault(path)
    except OSError as error:
        raise UsageFault(f"cannot read the solution {path}: {error}", "check its permissions") from None
    return Source(id=id, sha256=sha256, path=str(file), text=source.text, folder=str(path), fault=source.fault or fault)


def own_texts(source: Source) -> dict[str, str]:
    """The solution's files as an error may point into them, by name; a reply's lines keep their numbers."""
    if source.folder is not None:
        folder = Path(source.folder)
        files = [path for path in _files(folder) if path.suffix in TEXT_SUFFIXES and path.stat().st_size <= MAX_TEXT]
        try:
            return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in files}
        except OSError as error:
            raise UsageFault(f"cannot read the solution {folder}: {error}", "check its permissions") from None
    before = "\n" * (source.lines[0] - 1) if source.lines else ""
    return {Path(source.path).name: before + (source.text or "")}


def _from_bytes(data: bytes, file: Path, id: str, entry: str | None) -> Source:
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Source(id=id, sha256=sha256, path=str(file), text=None, fault="the file is not text (UTF-8)")
    if "\0" in text:
        return Source(id=id, sha256=sha256, path=str(file), text=None, fault="the file is binary, not Python")
    if not text.strip():
        return Source(id=id, sha256=sha256, path=str(file), text=None, fault="the file is empty")
    if file.suffix in REPLY_SUFFIXES:
        return _from_reply(text, file, id, sha256, (entry,) if entry else ENTRIES[:1])
    return Source(id=id, sha256=sha256, path=str(file), text=text)


def _from_reply(text: str, file: Path, id: str, sha256: str, entries: tuple[str, ...]) -> Source:
    found = reply.extract(text, entries)
    if isinstance(found, reply.Miss):
        return Source(id=id, sha256=sha256, path=str(file), text=None, fault=found.reason)
    return Source(
        id=id,
        sha256=hashlib.sha256(found.text.encode()).hexdigest(),
        path=str(file),
        text=found.text,
        lines=(found.first_line, found.last_line),
    )


def _files(folder: Path) -> list[Path]:
    """What a link leads to is not read: it may lie anywhere, and this process may read everything."""
    found = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sorted(path for path in found if path.resolve().is_relative_to(folder.resolve()))


def _folder_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in _files(folder):
        digest.update(f"{file.relative_to(folder)}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _folder_fault(folder: Path) -> str | None:
    if any(path.is_symlink() for path in folder.rglob("*")):
        return "the folder holds a symbolic link; a solution's files are its own"
    total = sum(path.stat().st_size for path in _files(folder))
    return f"the folder holds {total >> 20} MB, more than 256 MB" if total > MAX_FOLDER_BYTES else None
