"""results.jsonl: nothing lost, nothing double, nothing torn, whatever happens while it is written."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kbench.errors import MachineFault, UsageFault
from kbench.sweep.store import RESULTS, Store, read, read_all
from made import result

APPENDING = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from kbench.sweep.store import Store
from made import result
with Store(Path({folder!r})) as store:
    number = 0
    while True:
        store.append(result(solution=f"s{{number}}" + "x" * 400_000))
        number += 1
        print(number, flush=True)
"""


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.append(result(solution="a"))
        store.append(result(solution="b", verdict="wrong"))
    with Store(tmp_path) as store:
        store.append(result(solution="c"))
    assert [one.solution.id for one in read(tmp_path)] == ["a", "b", "c"]
    assert len(read_all([tmp_path, tmp_path / RESULTS])) == 6


def test_a_torn_last_line_is_cut_off_and_never_read(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.append(result(solution="a"))
    whole = (tmp_path / RESULTS).read_bytes()
    (tmp_path / RESULTS).write_bytes(whole + whole[:-20])
    assert len(read(tmp_path)) == 1
    with Store(tmp_path) as store:
        assert store.torn == len(whole) - 20
        store.append(result(solution="b"))
    assert [one.solution.id for one in read(tmp_path)] == ["a", "b"]


def test_one_writer_at_a_time_also_after_a_kill(tmp_path: Path) -> None:
    code = APPENDING.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout
    said = int(process.stdout.readline())
    with pytest.raises(MachineFault, match="another kbench run"):
        Store(tmp_path)
    process.send_signal(signal.SIGKILL)
    said = max([said, *(int(line) for line in process.stdout.read().split())])
    process.wait()
    with Store(tmp_path):
        found = read(tmp_path)
    assert len(found) >= said
    assert [one.solution.id[: len(f"s{n}")] for n, one in enumerate(found)] == [f"s{n}" for n in range(len(found))]


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.append(result(solution="a"))
        before = (tmp_path / RESULTS).stat().st_size
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        # The kernel takes a part of the line and refuses the rest, as a disk does that fills.
        resource.setrlimit(resource.RLIMIT_FSIZE, (before + 100, hard))
        try:
            with pytest.raises(MachineFault, match="cannot write a result") as caught:
                store.append(result(solution="b"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, ignored)
        assert "free some disk" in (caught.value.fix or "")
        assert (tmp_path / RESULTS).stat().st_size == before
        store.append(result(solution="c"))
    assert [one.solution.id for one in read(tmp_path)] == ["a", "c"]


def test_no_room_at_all(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.fail("this Linux has no /dev/full")
    (tmp_path / RESULTS).symlink_to("/dev/full")
    with Store(tmp_path) as store, pytest.raises(MachineFault, match="No space left"):
        store.append(result())


def test_what_is_no_result_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / RESULTS).write_text(result().to_json() + '\n{"schema": 9}\n')
    with pytest.raises(UsageFault, match=rf"{RESULTS}:2: no result.*schema 1"):
        read(tmp_path)
    with pytest.raises(UsageFault, match="cannot read"):
        read(tmp_path / "nothing")


def test_a_whole_line_without_its_end_is_kept_and_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / RESULTS).write_text(result(solution="a").to_json())
    with Store(tmp_path) as store:
        assert store.torn == 0
        store.append(result(solution="b"))
    assert [one.solution.id for one in read(tmp_path)] == ["a", "b"]
    (tmp_path / RESULTS).write_text("my notes")
    with pytest.raises(UsageFault, match="something else than results"):
        Store(tmp_path)
    assert (tmp_path / RESULTS).read_text() == "my notes"


@pytest.mark.parametrize("change", [('"schema":1', '"schema":99'), ('"median_ms":1.0', '"median_ms":-1.0')])
def test_a_line_that_cannot_be_is_said(tmp_path: Path, change: tuple[str, str]) -> None:
    (tmp_path / RESULTS).write_text(result().to_json().replace(*change) + "\n")
    with pytest.raises(UsageFault, match=rf"{RESULTS}:1: no result"):
        read(tmp_path)
