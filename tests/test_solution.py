from __future__ import annotations

from pathlib import Path

import pytest
from kbench import solution
from kbench.errors import UsageFault


def read(path: Path, entry: str | None = None) -> solution.Source:
    return solution.read(path, path.stem, entry)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("class ModelNew: pass\n")
    source = read(path)
    assert source.text == "class ModelNew: pass\n"
    assert source.fault is None
    assert len(source.sha256) == 64


def test_a_mark_of_byte_order_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("class ModelNew: pass\n", encoding="utf-8-sig")
    assert read(path).text == "class ModelNew: pass\n"


@pytest.mark.parametrize(
    ("data", "says"), [(b"", "empty"), (b"\xff\xfe\x00", "not text"), (b"a\0b", "binary"), (b" \n", "empty")]
)
def test_unreadable_text_is_a_fault_of_the_solution(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "one.py"
    path.write_bytes(data)
    source = read(path)
    assert source.text is None
    assert says in (source.fault or "")


def test_a_replys_identity_is_that_of_its_code(tmp_path: Path) -> None:
    for name, before in (("a.md", "Sure!\n"), ("b.md", "Of course, here it is:\n")):
        (tmp_path / name).write_text(f"{before}```python\nclass ModelNew: pass\n```\n")
    first, second = read(tmp_path / "a.md"), read(tmp_path / "b.md")
    assert first.sha256 == second.sha256
    assert first.lines == (3, 3)


def test_another_entry(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("```python\nclass Fast: pass\n```\n")
    assert read(path).fault
    assert read(path, "Fast").fault is None


def test_a_folder_is_hashed_whole(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text("class ModelNew: pass\n")
    first = read(tmp_path).sha256
    (tmp_path / "kernel.cu").write_text("// one")
    assert read(tmp_path).sha256 != first


def test_a_missing_file_is_a_usage_fault(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="cannot read"):
        read(tmp_path / "nowhere.py")


def test_a_link_in_a_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("kbench-secret")
    folder = tmp_path / "folder"
    (folder / "deeper").mkdir(parents=True)
    (folder / "solution.py").write_text("class ModelNew: pass\n")
    (folder / "deeper" / "s.h").symlink_to(secret)
    source = solution.read(folder, "folder", None)
    assert "symbolic link" in (source.fault or "")
    assert "kbench-secret" not in "".join(solution.own_texts(source).values())
    secret.write_text("changed")
    assert solution.read(folder, "folder", None).sha256 == source.sha256
