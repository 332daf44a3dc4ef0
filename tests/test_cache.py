from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from kbench.build.cache import Cache, default_folder
from kbench.errors import MachineFault


def test_what_is_stored_is_found(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.find("k") is None
    entry, path = cache.store("k", "name", b"artifact", 1.5, "log")
    found = cache.find("k")
    assert found == (entry, path)
    assert path.read_bytes() == b"artifact"


def test_a_damaged_entry_is_not_used_and_is_replaced(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    _, path = cache.store("k", "name", b"artifact", 1.0, "")
    path.write_bytes(b"something else")
    assert cache.find("k") is None
    cache.store("k", "name", b"artifact", 1.0, "")
    assert cache.find("k") is not None


def test_a_half_made_entry_is_never_found_and_goes_in_time(tmp_path: Path) -> None:
    half = tmp_path / "new-abc"
    half.mkdir()
    (half / "artifact.so").write_bytes(b"x")
    Cache(tmp_path)
    assert half.exists()
    os.utime(half, (time.time() - 7200,) * 2)
    Cache(tmp_path)
    assert not half.exists()


def test_a_folder_that_is_gone_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    with pytest.raises(MachineFault, match="cannot keep a build") as caught:
        cache.store("k", "name", b"x", 1.0, "")
    assert "KBENCH_CACHE" in (caught.value.fix or "")


def test_a_home_that_cannot_be_written_gives_a_private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("KBENCH_CACHE", str(blocked / "below"))
    assert default_folder() is None
    private = Cache(None)
    private.store("k", "name", b"x", 1.0, "")
    assert private.find("k") is not None
