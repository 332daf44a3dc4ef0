"""What the builder says of a machine that cannot build. Real builds are in test_pairs."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from kbench.build import builder
from kbench.build.cache import Cache
from kbench.build.toolchain import Toolchain
from kbench.errors import MachineFault
from kbench.protocol import BuildAsk

COMPLETE = {
    "compiler": "/usr/bin/c++",
    "compiler_version": "12",
    "nvcc": "/cuda/bin/nvcc",
    "nvcc_version": "13.0",
    "cuda_home": "/cuda",
}
CPP = BuildAsk(kind="inline", name="x", cpp_sources=("int f();",))
CUDA = BuildAsk(kind="inline", name="x", cuda_sources=("__global__ void k();",))
FILES = BuildAsk(kind="files", name="x", sources=("a/kernel.cu",))


@pytest.mark.parametrize(("ask", "says"), [(CPP, None), (CUDA, "nvcc"), (FILES, "nvcc")])
def test_without_nvcc_only_cpp_can_be_built(ask: BuildAsk, says: str | None) -> None:
    missing = builder._missing(ask, Toolchain(**{**COMPLETE, "nvcc": None}))
    assert (missing is None) == (says is None)
    assert missing is None or (says in missing[0] and "CUDA" in missing[1])


def test_the_key_follows_sources_flags_and_toolchain() -> None:
    other = BuildAsk(kind="inline", name="x", cpp_sources=("int f();",), extra_cflags=("-O3",))
    assert len({CPP.key("a"), CPP.key("b"), other.key("a"), CUDA.key("a")}) == 4
    assert CPP.key("a") == BuildAsk(kind="inline", name="x", cpp_sources=("int f();",)).key("a")


def test_a_full_disk_is_a_fault_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(MachineFault, match="No space left") as caught:
        Cache(tmp_path).store("k", "name", b"x", 1.0, "")
    assert "free some disk" in (caught.value.fix or "")
    assert list(tmp_path.iterdir()) == []
