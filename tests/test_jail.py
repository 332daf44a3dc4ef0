"""What a jailed process can and cannot do, with the layers that this machine has."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from kbench.jail import landlock, layers
from kbench.jail.launch import Plan
from kbench.jail.layers import Limits
from kbench.jail.orders import (
    AskLog,
    Ended,
    Freeze,
    FromKeeper,
    Frozen,
    Keep,
    LogTail,
    Placed,
    PlaceFile,
    PlaceFolder,
    Up,
)
from kbench.jail.zygote import fork_worker
from kbench.wire import Channel, Closed, pair

WORKS, LACKING = layers.probe()
FULL = pytest.mark.skipif(bool(LACKING), reason=f"this machine lacks {', '.join(LACKING)}")
SECRET = "kbench-test-secret"


class Jailed:
    def __init__(self, main: Callable[[Channel], None], only: frozenset[str] = WORKS, **limits: int) -> None:
        self.control, keeper_end = pair()
        self.work, worker_end = pair()
        options = {"memory_bytes": 2**34, "data_limit": False, **limits}
        plan = Plan(tuple(only), Limits(**options), landlock.readable(), {"PATH": os.environ["PATH"]}, "kbench.worker")
        fork_worker(plan, keeper_end.fileno(), worker_end.fileno(), main)
        keeper_end.close()
        worker_end.close()
        assert isinstance(self.control.receive(FromKeeper, 10.0), Up)

    def ended(self) -> Ended:
        found = self.control.receive(FromKeeper, 20.0)
        assert isinstance(found, Ended)
        return found

    def log(self) -> str:
        self.control.send(AskLog())
        found = self.control.receive(FromKeeper, 10.0)
        assert isinstance(found, LogTail)
        return found.text

    def close(self) -> None:
        self.control.sock.shutdown(1)
        with pytest.raises(Closed):
            while True:
                self.control.receive(FromKeeper, 10.0)


def run(action: Callable[[], object]) -> str:
    """What the action did in the jail: its value or its error."""

    def main(_: Channel) -> None:
        try:
            print(f"did {action()!r}", flush=True)
        except OSError as error:
            print(f"refused {type(error).__name__}", flush=True)

    jailed = Jailed(main)
    jailed.ended()
    text = jailed.log().strip()
    jailed.close()
    return text


@FULL
@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/root/.bashrc",
        str(ROOT / "problems" / "fusion" / "conv2d_divide_leaky_relu.py"),
        "/proc/1/environ",
        "/proc/1/mem",
    ],
)
def test_files_outside_cannot_be_read(path: str) -> None:
    if not path.startswith("/proc") and not Path(path).exists():
        pytest.skip("no such file here")
    assert run(lambda: Path(path).read_bytes()[:1]).startswith("refused")


@FULL
@pytest.mark.parametrize(
    "path",
    [
        "/usr/kbench",
        "/tmp/kbench-test",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/modprobe",
        "/proc/sysrq-trigger",
        "/sys/kernel/uevent_helper",
        "/dev/kmsg",
    ],
)
def test_files_outside_cannot_be_written(path: str) -> None:
    assert run(lambda: Path(path).write_text("x")).startswith("refused")


@FULL
def test_no_network_no_other_processes_no_mounts_no_new_roots() -> None:
    import socket

    assert run(lambda: socket.create_connection(("127.0.0.1", 22), 1)).startswith("refused")
    assert run(lambda: sorted(int(name) for name in os.listdir("/proc") if name.isdigit())) == "did [1, 2]"
    assert run(lambda: os.kill(1, 9)).startswith(("refused", "did None"))
    assert run(lambda: os.chroot("/usr")).startswith("refused")
    assert run(lambda: os.setuid(12345)).startswith("refused")
    assert run(lambda: layers.linux.mount("tmpfs", "/usr", "tmpfs", 0)).startswith("refused")


@FULL
def test_the_keeper_survives_being_killed_from_inside() -> None:
    def main(_: Channel) -> None:
        for number in (9, 15, 19, 11):
            with contextlib.suppress(OSError):
                os.kill(1, number)
        print("still here", flush=True)

    jailed = Jailed(main)
    assert jailed.ended() == Ended(0, None, None)
    assert "still here" in jailed.log()
    jailed.close()


def test_the_scratch_can_be_written_and_environment_is_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", SECRET)
    assert run(lambda: Path(os.environ["TMPDIR"], "x").write_text("abc")) == "did 3"
    assert SECRET not in run(lambda: dict(os.environ))
    assert "PATH" in run(lambda: dict(os.environ))


def test_files_and_folders_are_placed_and_kept(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "kernel.cu").write_text("// kernel")

    def main(channel: Channel) -> None:
        channel.receive(AskLog)
        print(Path("one.py").read_text(), Path("kernel.cu").read_text(), flush=True)

    jailed = Jailed(main)
    (tmp_path / "kept").mkdir()
    given, kept = (os.open(tmp_path / name, os.O_PATH) for name in ("in", "kept"))
    for order, fds in ((PlaceFile("solution/one.py", "text"), ()), (PlaceFolder("solution"), (given,))):
        jailed.control.send(order, fds)
        placed = jailed.control.receive(FromKeeper, 5.0)
        assert isinstance(placed, Placed) and placed.fault is None
    jailed.work.send(AskLog())
    jailed.ended()
    assert "text // kernel" in jailed.log()
    for _ in range(2):
        jailed.control.send(Keep(), (kept,))
        assert jailed.control.receive(FromKeeper, 5.0).fault is None
    jailed.close()
    os.close(given)
    os.close(kept)
    assert (tmp_path / "kept" / "scratch-2" / "solution" / "kernel.cu").exists()
    assert (tmp_path / "kept" / "scratch" / "solution" / "one.py").read_text() == "text"


def test_what_is_kept_leads_nowhere_else(tmp_path: Path) -> None:
    """Neither a link that it leaves, nor one that an earlier one left, nor a tree without end."""
    victim, kept = tmp_path / "victim", tmp_path / "kept"
    victim.mkdir()
    kept.mkdir()
    (kept / "scratch").symlink_to(victim)

    def main(_: Channel) -> None:
        Path("../link").symlink_to("../../victim")
        Path("plain.txt").write_text("text")
        for _number in range(1500):
            Path("d").mkdir()
            os.chdir("d")

    jailed = Jailed(main)
    jailed.ended()
    fd = os.open(kept, os.O_PATH)
    jailed.control.send(Keep(), (fd,))
    answer = jailed.control.receive(FromKeeper, 10.0)
    assert isinstance(answer, Placed) and answer.fault
    jailed.close()
    os.close(fd)
    assert not list(victim.iterdir()) and not list(kept.rglob("link"))


def test_too_many_processes_are_ended() -> None:
    def main(_: Channel) -> None:
        for _number in range(60):
            if os.fork() == 0:
                time.sleep(60)
        time.sleep(60)

    jailed = Jailed(main, processes=20)
    assert jailed.ended().limit == "processes"
    jailed.close()


def test_output_past_its_cap_is_dropped_and_the_end_kept() -> None:
    def main(_: Channel) -> None:
        for _number in range(200):
            print("x" * 100_000)
        print("the end", flush=True)

    jailed = Jailed(main)
    jailed.ended()
    log = jailed.log()
    assert len(log) <= 64 * 1024
    assert log.rstrip().endswith("the end")
    jailed.close()


@pytest.mark.parametrize("only", [WORKS, WORKS & {"no_new_privs", "landlock"}, frozenset()], ids=["all", "few", "none"])
def test_everything_inside_ends_with_the_channel(only: frozenset[str], tmp_path: Path) -> None:
    def main(_: Channel) -> None:
        if os.fork() == 0:
            os.setsid()
            layers.linux.set_name("kbench.stray")
            time.sleep(600)
        time.sleep(600)

    jailed = Jailed(main, only)
    began = time.monotonic()
    while "kbench.stray" not in names():
        assert time.monotonic() - began < 5
    jailed.close()
    began = time.monotonic()
    while "kbench.stray" in names():
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("order", [Freeze(on=True, settled=True), Freeze(on=True, watched=True)])
def test_a_stop_is_answered_when_everything_has_stopped(order: Freeze) -> None:
    def main(_: Channel) -> None:
        layers.linux.set_name("kbench.busy")
        for _child in range(7):
            if os.fork() == 0:
                break
        while True:
            pass

    jailed = Jailed(main)
    while len(states("kbench.busy")) < 8:
        time.sleep(0.01)
    for _ in range(10):
        jailed.control.send(order)
        assert isinstance(jailed.control.receive(FromKeeper, 10.0), Frozen)
        assert states("kbench.busy") == ["T"] * 8
        jailed.control.send(Freeze(on=False))
        time.sleep(0.02)
    assert "R" in states("kbench.busy")
    jailed.close()


def states(name: str) -> list[str]:
    """Of all processes of this name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            called, _, rest = path.read_text().partition("(")[2].rpartition(")")
            found += [rest.split()[0]] if called == name else []
    return found


def names() -> set[str]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            found.add(path.read_text().strip())
        except OSError:
            continue
    return found
