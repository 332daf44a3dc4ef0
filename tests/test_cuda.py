from __future__ import annotations

from pathlib import Path

import pytest
from kbench.device.cuda import _minor, node_names, whole_pages

UUID = "GPU-11111111-2222-3333-4444-555555555555"


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    for name in ("nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).symlink_to("/dev/null")
    (tmp_path / "nvidia-caps").mkdir()
    return tmp_path


def test_of_several_gpus_a_worker_gets_one(dev: Path) -> None:
    named = {Path(name).name for name in node_names(dev, "1")}
    assert named == {"nvidia1", "nvidiactl", "nvidia-uvm"}


@pytest.mark.parametrize("minor", [None, "7"])
def test_all_where_its_node_is_not_known(dev: Path, minor: str | None) -> None:
    assert len(node_names(dev, minor)) == 5


def test_the_driver_says_which_node_is_whose(tmp_path: Path) -> None:
    for place, uuid, minor in (("0000:01:00.0", "GPU-other", 0), ("0000:02:00.0", UUID, 3)):
        (tmp_path / place).mkdir()
        (tmp_path / place / "information").write_text(f"GPU UUID: \t {uuid}\nDevice Minor: \t {minor}\n")
    assert _minor(UUID, tmp_path) == "3"
    assert _minor("GPU-unknown", tmp_path) is None
    assert _minor(UUID, tmp_path / "nowhere") is None


@pytest.mark.parametrize("count, pages", [(1, 1), (2**21, 1), (2**21 + 1, 2), (6 * 524_337_152, 1501)])
def test_memory_is_shared_in_whole_pages(count: int, pages: int) -> None:
    assert whole_pages(count) == pages * 2**21
