from __future__ import annotations

from pathlib import Path

import pytest
from kbench import machine


@pytest.mark.parametrize("limit, whole", [("40\n", 40), ("max\n", 100), ("400\n", 100), (None, 100)])
def test_a_cgroup_bounds_what_memory_there_is(limit: str | None, whole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> str:
        assert path == Path("/sys/fs/cgroup/memory.max")
        if limit is None:
            raise FileNotFoundError(path)
        return limit

    monkeypatch.setattr(machine, "meminfo", lambda field: 100)
    monkeypatch.setattr(Path, "read_text", read)
    assert machine.total_memory() == whole
