from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from kbench.device import limits
from kbench.device.cpu import Cpu


def test_what_was_measured_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Cpu()
    found = limits.known(device, tmp_path)
    assert found and found.bytes_per_s > 1e8 and found.operations_per_s > 1e8
    (file,) = (tmp_path / "limits").iterdir()
    monkeypatch.setattr(limits, "measure", lambda _: pytest.fail("measured again"))
    assert limits.known(device, tmp_path) == found
    other = limits.Rates(1e9, 2e9)
    monkeypatch.setattr(limits, "measure", lambda _: other)
    for spoilt in (b"{torn", b'{"bytes_per_s": 0, "operations_per_s": 0}'):
        file.write_bytes(spoilt)
        assert limits.known(device, tmp_path) == other
        assert msgspec.json.decode(file.read_bytes(), type=limits.Rates) == other


def test_no_memory_for_it_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(_: object) -> limits.Rates:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(limits, "measure", measure)
    assert limits.known(Cpu(), None) is None
