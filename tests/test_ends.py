"""Nothing is left behind, however an evaluation ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import AFFINE, CHEATS

HANGS = CHEATS / "timed_out__loop_in_forward.py"
KBENCH = [sys.executable, "-m", "kbench.cli.main"]


def ours(session: set[int]) -> dict[int, str]:
    """Processes of ours that were not there before."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            name, pid = path.read_text().strip(), int(path.parent.name)
        except OSError:
            continue
        if name.startswith("kbench.") and pid not in session:
            found[pid] = name
    return found


def settled() -> set[int]:
    """Those that are there, once no warm referee of other tests is about to start some more."""
    known: set[int] = set()
    while known != (known := set(ours(set()))):
        time.sleep(0.5)
    return known


def litter() -> set[str]:
    folders = [Path("/dev/shm"), Path(os.environ.get("TMPDIR", "/tmp"))]
    return {str(path) for folder in folders for path in folder.glob("kbench*")}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_nothing_remains(number: signal.Signals) -> None:
    before, files = settled(), litter()
    process = subprocess.Popen(
        [*KBENCH, "eval", str(AFFINE), str(HANGS), "--device", "cpu"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    began = time.monotonic()
    while "kbench.worker" not in ours(before).values():
        assert time.monotonic() - began < 30
        time.sleep(0.05)
    time.sleep(1.5)  # into the call that hangs
    process.send_signal(number)
    process.wait(10)
    began = time.monotonic()
    while ours(before):
        assert time.monotonic() - began < 2.0, ours(before)
        time.sleep(0.02)
    assert litter() == files
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert process.stderr is not None and "interrupted" in process.stderr.read()


def test_processes_show_under_their_names() -> None:
    before = settled()
    process = subprocess.Popen([*KBENCH, "eval", str(AFFINE), str(HANGS), "--device", "cpu"], stdout=subprocess.DEVNULL)
    wanted = {"kbench.worker", "kbench.referee", "kbench.builder"}
    began = time.monotonic()
    while not wanted <= set(ours(before).values()):
        assert time.monotonic() - began < 30
        time.sleep(0.05)
    process.kill()
    process.wait()
