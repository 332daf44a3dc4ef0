"""Which devices a sweep runs on."""

from __future__ import annotations

import pytest
from kbench.sweep import lanes


@pytest.mark.parametrize(
    ("names", "visible", "found", "kinds"),
    [
        (("auto",), "0,1", ["cuda:0", "cuda:1"], ["cuda"]),
        (("auto",), "", ["cpu"], ["cpu"]),
        (("cuda",), "", ["cuda:0"], ["cuda"]),  # whose referee says that it is not there
        (("cuda", "cuda:1", "cpu"), "0,1", ["cuda:0", "cuda:1", "cpu"], ["cpu", "cuda"]),
        (("cpu", "auto"), "", ["cpu"], ["cpu"]),
    ],
)
def test_names_become_devices_each_once(
    names: tuple[str, ...], visible: str, found: list[str], kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert lanes.devices(names) == found
    assert lanes.kinds(found) == kinds
