from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kbench.build import cache as build_cache
from kbench.build.cache import Cache, Entry, default_folder, digest
from kbench.errors import MachineFault, UsageFault

KEYS = [f"{number:064x}" for number in range(20)]


def entry(artifact: bytes, **changes: object) -> Entry:
    options: dict[str, object] = {"name": "name", "sha256": digest(artifact), "seconds": 1.5, "log": "log"}
    return Entry(**{**options, **changes})  # type: ignore[arg-type]


def put(cache: Cache, key: str, artifact: bytes = b"artifact") -> Path:
    return cache.store(key, entry(artifact), artifact)[1]


def used(cache: Cache, key: str, seconds_ago: float) -> None:
    os.utime(cache.folder / key, (time.time() - seconds_ago,) * 2)


def test_what_is_stored_is_found(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.find(KEYS[0]) is None
    path = put(cache, KEYS[0])
    found = cache.find(KEYS[0])
    assert found == (entry(b"artifact"), path)
    assert path.read_bytes() == b"artifact"


@pytest.mark.parametrize("damage", [b"something else", b""])
def test_a_damaged_entry_is_not_used_and_is_replaced(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    put(cache, KEYS[0]).write_bytes(damage)
    assert cache.find(KEYS[0]) is None
    assert [kept.entry for kept in cache.kept(check=True)] == [None]
    put(cache, KEYS[0])
    assert cache.find(KEYS[0]) is not None


def test_a_half_made_entry_is_never_found_and_goes_in_time(tmp_path: Path) -> None:
    half = tmp_path / "new-abc"
    half.mkdir()
    (half / "artifact.so").write_bytes(b"x")
    assert Cache(tmp_path).kept() == []
    assert half.exists()
    os.utime(half, (time.time() - 7200,) * 2)
    Cache(tmp_path)
    assert not half.exists()


def test_what_was_not_used_for_the_longest_time_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=10**9)
    for number in range(4):
        put(cache, KEYS[number], b"x" * 1000)
        used(cache, KEYS[number], 1000 - number)
    cache.find(KEYS[0])  # the oldest is used again
    size = cache.kept()[0].size
    gone = cache.prune(2 * size)
    assert [kept.key for kept in gone] == [KEYS[1], KEYS[2]]
    assert {kept.key for kept in cache.kept()} == {KEYS[0], KEYS[3]}


def test_storing_makes_room_and_never_removes_what_was_just_stored(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1)
    for key in KEYS[:3]:
        put(cache, key)
        assert [kept.key for kept in cache.kept()] == [key]


def test_a_light_artifact_keeps_its_glue(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1)
    put(cache, KEYS[0], b"glue")
    cache.store(KEYS[1], entry(b"light", path="light", glue=KEYS[0]), b"light")
    assert {kept.key for kept in cache.kept()} == {KEYS[0], KEYS[1]}


def test_a_folder_that_is_gone_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    with pytest.raises(MachineFault, match="cannot keep a build") as caught:
        put(cache, KEYS[0])
    assert "KBENCH_CACHE" in (caught.value.fix or "")


def test_a_home_that_cannot_be_written_gives_a_private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("KBENCH_CACHE", str(blocked / "below"))
    assert default_folder() is None
    private = build_cache.opened()
    put(private, KEYS[0])
    assert private.find(KEYS[0]) is not None


def test_what_lies_in_a_folder_that_cannot_be_written_is_still_used(tmp_path: Path) -> None:
    shared = Cache(tmp_path)
    put(shared, KEYS[0], b"shared")
    reading = Cache(None, shared=tmp_path)
    assert reading.find(KEYS[0]) is not None
    put(reading, KEYS[1])
    assert reading.find(KEYS[1]) is not None
    assert shared.find(KEYS[1]) is None


@pytest.mark.parametrize(("given", "size"), [("5GB", 5 * 2**30), ("0", 0), ("1.5 MiB", 3 * 2**19), (None, 20 * 2**30)])
def test_the_limit_comes_from_the_environment(given: str | None, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if given is None:
        monkeypatch.delenv("KBENCH_CACHE_SIZE", raising=False)
    else:
        monkeypatch.setenv("KBENCH_CACHE_SIZE", given)
    assert build_cache.size_limit() == size


def test_a_limit_that_is_none_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBENCH_CACHE_SIZE", "plenty")
    with pytest.raises(UsageFault, match="plenty"):
        build_cache.size_limit()


def test_what_is_no_entry_counts_as_damaged(tmp_path: Path) -> None:
    (tmp_path / KEYS[0]).write_text("a file")
    (tmp_path / KEYS[1]).mkdir()
    (tmp_path / KEYS[1] / "artifact.so").symlink_to("/nowhere")
    assert [kept.entry for kept in Cache(tmp_path).kept(check=True)] == [None, None]


def test_only_the_latest_logs_are_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for number in range(build_cache.MAX_LOGS + 5):
        cache.keep_log(f"{number:064x}"[::-1], "log")
    assert len(list(tmp_path.glob("log-*"))) == build_cache.MAX_LOGS


STORING = """
import sys
from pathlib import Path
from kbench.build.cache import Cache, Entry, digest
cache = Cache(Path(sys.argv[1]), limit=40_000_000)
print("up", flush=True)
for number in range(10**6):
    artifact = bytes([number % 256]) * 3_000_000
    cache.store(f"{number % 20:064x}", Entry("n", digest(artifact), 1.0, ""), artifact)
    cache.remove(f"{(number + 7) % 20:064x}")
"""


def test_a_kill_at_any_moment_leaves_whole_entries(tmp_path: Path) -> None:
    for delay in (0.01, 0.03, 0.05, 0.08, 0.13, 0.21):
        process = subprocess.Popen([sys.executable, "-c", STORING, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"up\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        cache = Cache(tmp_path)
        assert all(kept.entry is not None for kept in cache.kept(check=True))
    put(Cache(tmp_path), KEYS[0], b"afterwards")
    found = Cache(tmp_path).find(KEYS[0])
    assert found is not None


def test_two_that_store_the_same_both_find_it(tmp_path: Path) -> None:
    code = STORING.replace("range(10**6)", "range(60)").replace('    cache.remove(f"{(number + 7) % 20:064x}")\n', "")
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.DEVNULL) for _ in "ab"]
    assert [process.wait(60) for process in running] == [0, 0]
    assert all(kept.entry is not None for kept in Cache(tmp_path).kept(check=True))
