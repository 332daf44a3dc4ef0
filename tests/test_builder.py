"""The builder: machines that cannot build, what hostile sources can reach, builds that several share."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import building
import pytest
from kbench import machine
from kbench.build import builder, flags, jailed, refusal, toolchain, turn
from kbench.build.cache import Cache, Entry, digest
from kbench.build.request import BuildOutcome, Request
from kbench.build.toolchain import Toolchain
from kbench.errors import MachineFault
from kbench.jail import layers
from kbench.protocol import BuildAsk

LAYERS, LACKING = layers.probe()
FULL = pytest.mark.skipif(bool(LACKING), reason=f"this machine lacks {', '.join(LACKING)}")
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
    missing = refusal.missing(ask, Toolchain(**{**COMPLETE, "nvcc": None}))
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
        Cache(tmp_path).store("k" * 64, Entry("name", digest(b"x"), 1.0, ""), b"x")
    assert "free some disk" in (caught.value.fix or "")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def local() -> Iterator[building.Local]:
    started = building.start()
    yield started
    started.channel.close()


def ask(source: str, **changes: object) -> BuildAsk:
    options: dict[str, object] = {
        "kind": "inline",
        "name": "hostile",
        "cpp_sources": (source,),
        "functions": {"f": "f"},
    }
    return BuildAsk(**{**options, **changes})  # type: ignore[arg-type]


def build(local: building.Local, asked: BuildAsk, seconds: float = 120.0, mode: str = "light") -> BuildOutcome:
    local.channel.send(Request(asked, None, local.layers, seconds, mode))  # type: ignore[arg-type]
    outcome: BuildOutcome = local.channel.receive(BuildOutcome)
    for fd in local.channel.take_fds(2):
        os.close(fd)
    return outcome


GOOD = "int f() { return 1; }"


@FULL
@pytest.mark.parametrize("how", ['#include "{0}"', "#include_next <{0}>", '__asm__(".incbin \\"{0}\\"");'])
def test_a_secret_file_cannot_be_compiled_in(how: str, local: building.Local, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text('static const char secret[] = "kbench-secret";\n')
    outcome = build(local, ask(f"{GOOD}\n{how.format(secret)}"))
    assert outcome.sha256 is None
    assert "kbench-secret" not in outcome.log


@FULL
def test_what_exists_cannot_be_asked_either(local: building.Local, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("")
    found = f'#if __has_include("{secret}")\n#error it is there\n#endif\n'
    asked = ask(f"{GOOD}\n{found}", no_implicit_headers=True, functions=None)
    assert build(local, asked, mode="full").sha256 is not None


@pytest.mark.parametrize(
    "flags",
    [
        {"extra_cflags": ("-wrapper", "/bin/sh")},
        {"extra_cflags": ("-fplugin=/tmp/x.so",)},
        {"extra_cflags": ("-B/tmp",)},
        {"extra_cuda_cflags": ("--compiler-bindir=/tmp",)},
        {"extra_ldflags": ("-Wl,-plugin,/tmp/x.so",)},
    ],
)
@pytest.mark.parametrize("mode", ["light", "full", "auto"])
def test_a_flag_that_runs_a_program_ends_the_build_at_once(
    flags: dict[str, tuple[str, ...]], mode: str, local: building.Local
) -> None:
    outcome = build(local, ask(GOOD, **flags), mode=mode)
    assert outcome.sha256 is None
    assert "program of the solution's choosing" in outcome.log
    assert outcome.seconds < 10


@FULL
@pytest.mark.parametrize("kind", ["extra_cflags", "extra_ldflags"])
def test_what_a_shell_makes_of_a_flag_stays_in_the_jail(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flags, "refused", lambda _: None)
    local = building.start()
    places = [
        tmp_path / "escaped",
        Path.home() / f"kbench-escaped-{os.getpid()}",
        Path(f"/tmp/kbench-escaped-{os.getpid()}"),
    ]
    commands = ";".join(f"touch {place}" for place in places)
    reach = "(exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && echo network-reached"
    outcome = build(local, ask(GOOD, **{kind: (f"; {commands}; {reach}; false;",)}))
    assert not any(place.exists() for place in places)
    assert "network-reached\n" not in outcome.log
    local.channel.close()


@FULL
def test_a_file_without_end_meets_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jailed, "MEMORY_BYTES", 2**30)
    started = building.start()
    outcome = build(started, ask(f'{GOOD}\n#include "/dev/zero"'), 60.0)
    started.channel.close()
    assert outcome.sha256 is None
    assert not outcome.timed_out
    assert "memory" in outcome.log or "error" in outcome.log


BOMB = """
template <int N, int M> struct Bomb {
  static constexpr long value = Bomb<N - 1, M * 2>::value + Bomb<N - 1, M * 2 + 1>::value;
};
template <int M> struct Bomb<0, M> { static constexpr long value = M; };
long f() { return Bomb<26, 1>::value; }
"""


def test_templates_without_end_meet_the_deadline(local: building.Local) -> None:
    began = time.monotonic()
    outcome = build(local, ask(BOMB), 4.0)
    assert outcome.timed_out
    assert time.monotonic() - began < 12
    assert build(local, ask(GOOD)).sha256 is not None


def test_a_machine_that_is_busy_is_no_fault_of_the_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "BUILD_WAIT_S", 0.5)
    slots = turn.slots(machine.usable_cores(), machine.available_memory())
    with contextlib.ExitStack() as held:
        local = building.start()
        for _ in range(slots + 1):
            held.enter_context(turn.to_compile(slots, time.monotonic() + 0.2))
        outcome = build(local, ask(f"int f() {{ return {time.monotonic_ns()}L % 7; }}"))
        assert outcome.machine is not None and "other builds" in outcome.machine
        assert not outcome.timed_out
        local.channel.close()


@FULL
def test_a_toolchain_behind_links_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As modules, conda and Nix lay them out: the name on the PATH leads through links."""
    real = tmp_path / "v1" / "bin"
    real.mkdir(parents=True)
    compiler = shutil.which("c++") or "c++"
    (real / "c++").write_text(f'#!/bin/sh\nexec {compiler} "$@"\n')
    (real / "c++").chmod(0o755)
    (tmp_path / "current").symlink_to("v1")
    monkeypatch.setenv("PATH", f"{tmp_path}/current/bin:{os.environ['PATH']}")
    monkeypatch.delenv("CXX", raising=False)
    toolchain.find.cache_clear()
    local = building.start()
    outcome = build(local, ask(f"int f() {{ return {time.monotonic_ns()}L % 7; }}"), mode="light")
    toolchain.find.cache_clear()
    local.channel.close()
    assert outcome.sha256 is not None, outcome.log


def test_the_compilers_are_gone_when_the_deadline_has_come(local: building.Local) -> None:
    build(local, ask(BOMB.replace("26", "25")), 3.0)
    deadline = time.monotonic() + 5
    while (left := _named("kbench.compile")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def _named(name: str) -> list[str]:
    found = subprocess.run(["pgrep", "-f", f"^{name}"], capture_output=True, text=True, check=False).stdout.split()
    return [pid for pid in found if Path(f"/proc/{pid}").exists()]


def test_two_that_need_the_same_build_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "KBENCH_CACHE", os.environ.get("KBENCH_CACHE", str(Path.home() / ".cache" / "kbench" / "builds-2"))
    )
    both = [building.start(), building.start()]
    asked = ask(f"int f() {{ return {time.monotonic_ns()}L % 7; }}")
    outcomes: list[BuildOutcome] = []
    threads = [threading.Thread(target=lambda one=one: outcomes.append(build(one, asked))) for one in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome.cached for outcome in outcomes) == [False, True]
    assert len({outcome.sha256 for outcome in outcomes}) == 1
    for one in both:
        one.channel.close()


def test_a_builder_killed_in_the_middle_leaves_nothing_that_harms(tmp_path: Path) -> None:
    asked = ask(f"int f() {{ return {time.monotonic_ns()}L % 7; }}")
    for delay in (0.05, 0.3, 0.8):
        started = building.start()
        started.channel.send(Request(asked, None, started.layers, 60.0, "light"))
        time.sleep(delay)
        for pid in _children("kbench.builder"):
            os.kill(pid, signal.SIGKILL)
        started.channel.close()
    again = building.start()
    outcome = build(again, asked)
    assert outcome.sha256 is not None
    again.channel.close()


def _children(name: str) -> list[int]:
    found = subprocess.run(
        ["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False
    ).stdout.split()
    return [int(pid) for pid in found if name in Path(f"/proc/{pid}/comm").read_text()]


def test_no_solution_changes_what_another_gets(local: building.Local) -> None:
    """The same name and function, other sources: each its own artifact; the same sources: the same one."""
    first = build(local, ask("int f() { return 1; }", name="shared"))
    second = build(local, ask("int f() { return 2; }", name="shared"))
    again = build(local, ask("int f() { return 1; }", name="shared"))
    assert first.sha256 != second.sha256
    assert first.sha256 == again.sha256
    assert again.cached


def test_the_modes_keep_their_builds_apart(local: building.Local) -> None:
    keys = {local_mode: _key(local_mode) for local_mode in ("auto", "light", "full")}
    assert len(set(keys.values())) == 3


def test_the_architectures_count_for_cuda_alone() -> None:
    """So that C++ that was built ahead is found by who knows of no GPU."""
    assert _key("auto", CPP, "9.0") == _key("auto", CPP, None)
    assert _key("auto", CUDA, "9.0") != _key("auto", CUDA, None)


def _key(mode: str, ask: BuildAsk = CPP, arch_list: str | None = None) -> str:
    made = builder.Builder(Cache(None), Toolchain(**COMPLETE))
    return made._key(Request(ask, arch_list, (), 1.0, mode))  # type: ignore[arg-type]


def test_what_does_not_build_is_not_tried_twice_in_a_row(local: building.Local) -> None:
    asked = ask(f"int f() {{ return missing_{os.getpid()}; }}")
    first, again = build(local, asked), build(local, asked)
    assert (first.sha256, first.cached) == (None, False)
    assert (again.sha256, again.cached) == (None, True)
    assert again.log == first.log and "missing_" in again.log


def test_a_file_that_was_missing_may_be_there_the_next_time(local: building.Local) -> None:
    asked = ask(f'#include "missing_{os.getpid()}.h"\n{GOOD}')
    assert not build(local, asked).cached
    assert not build(local, asked).cached
