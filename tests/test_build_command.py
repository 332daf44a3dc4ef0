"""`kbench build` and `kbench cache` as a user meets them."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from conftest import BROKEN, ROOT
from kbench.build import toolchain
from kbench.build.cache import Cache, Entry, digest
from kbench.cli.build import arch_list
from kbench.errors import UsageFault
from test_cli import run

PAIR = "fusion/conv2d_divide_leaky_relu"
CPP = str(BROKEN / "solutions" / "passed__extension.py")
NVCC = pytest.mark.skipif(toolchain.find().nvcc is None, reason="no nvcc here")


@NVCC
def test_a_cuda_solution_is_built_without_a_gpu_and_found_again() -> None:
    done = run("build", f"{PAIR}/epilogue_cuda", "--arch", "9.0", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    (extension,) = told["build"]["extensions"]
    assert extension["path"] == "light"
    assert [kernel["arch"] for kernel in extension["kernels"]] == ["sm_90"]
    assert all(kernel["registers"] > 0 for kernel in extension["kernels"])
    again = run("build", f"{PAIR}/epilogue_cuda", "--arch", "sm_90", "-v")
    assert "cached" in again.stdout
    assert "registers" in again.stdout


def test_several_at_once_and_one_that_fails() -> None:
    failing = str(BROKEN / "solutions" / "build_failed__syntax.py")
    done = run("build", f"{PAIR}/epilogue_cpp", failing, "--arch", "9.0", "--jobs", "2")
    assert done.returncode == 1
    assert re.search(rf"^built    {PAIR}/epilogue_cpp  ", done.stdout, re.M)
    assert re.search(r"^FAILED   build_failed__syntax", done.stdout, re.M)
    assert "-->" in done.stdout and "hint: " in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("no/such/thing",), 2, "no solution"),
        ((f"{PAIR}/epilogue_cpp", "--arch", "fast"), 2, "no architecture"),
        ((f"{PAIR}/epilogue_cpp", "--problem", "nothing"), 2, "no problem"),
        ((f"{PAIR}/epilogue_cpp", "--timeout", "call=soon"), 2, "is no number"),
        ((str(BROKEN / "solutions" / "passed__plain.py"),), 0, "builds nothing"),
        ((str(BROKEN / "solutions" / "load_failed__syntax_error.py"),), 1, "SyntaxError"),
        ((str(BROKEN / "solutions" / "load_failed__exits_at_import.py"),), 1, "process ended"),
        ((str(BROKEN / "replies" / "load_failed__no_code.md"),), 1, "FAILED"),
        ((), 2, "Missing argument"),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_what_it_says(arguments: tuple[str, ...], code: int, says: str) -> None:
    done = run("build", *arguments)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@NVCC
def test_cuda_sources_without_an_architecture_ask_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("build", f"{PAIR}/epilogue_cuda", env={"PATH": _without_nvidia_smi()})
    assert done.returncode == 2
    assert "--arch" in done.stderr


def _without_nvidia_smi() -> str:
    import os

    folders = os.environ["PATH"].split(":")
    return ":".join(folder for folder in folders if not Path(folder, "nvidia-smi").exists())


@pytest.mark.parametrize(
    ("given", "wanted"),
    [(("9.0",), "9.0+PTX"), (("sm_90a",), "9.0a+PTX"), (("8.0", "compute_120"), "8.0;12.0+PTX"), (("90",), "9.0+PTX")],
)
def test_architectures_as_torch_writes_them(given: tuple[str, ...], wanted: str) -> None:
    assert arch_list(given) == wanted


@pytest.mark.parametrize("given", ["hopper", "9", "sm_", "", "9.0+PTX", "9.0;rm"])
def test_what_is_no_architecture(given: str) -> None:
    with pytest.raises(UsageFault, match="no architecture"):
        arch_list((given,))


@pytest.fixture
def filled(tmp_path: Path) -> dict[str, str]:
    cache = Cache(tmp_path)
    for number in range(3):
        artifact = bytes(1000 * (number + 1))
        cache.store(f"{number:064x}", Entry(f"kernel{number}", digest(artifact), 1.5, "", path="light"), artifact)
        time.sleep(0.02)
    return {"KBENCH_CACHE": str(tmp_path)}


def test_the_cache_is_shown_with_its_total(filled: dict[str, str]) -> None:
    done = run("cache", env=filled)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("  ")[-1] for line in lines[:3]] == [f"kernel{n} (light, 1.5 s to build)" for n in (2, 1, 0)]
    assert re.match(r"3 builds, \d\.\d KB of 20\.0 GB, in ", lines[3])


def test_pruning_removes_the_longest_unused_first(filled: dict[str, str]) -> None:
    planned = run("cache", "prune", "--to", "4KB", "--dry-run", env=filled)
    assert "would remove" in planned.stdout
    assert len(run("cache", env=filled).stdout.splitlines()) == 4
    done = run("cache", "prune", "--to", "4KB", env=filled)
    assert "kernel0" in done.stdout
    assert "kernel2" not in done.stdout
    assert run("cache", "prune", "--to", "0", env=filled).returncode == 0
    assert run("cache", env=filled).stdout.startswith("0 builds")


def test_verifying_finds_and_removes_what_is_damaged(filled: dict[str, str]) -> None:
    assert run("cache", "verify", env=filled).returncode == 0
    (Path(filled["KBENCH_CACHE"]) / f"{1:064x}" / "artifact.so").write_bytes(b"damage")
    done = run("cache", "verify", env=filled)
    assert done.returncode == 1
    assert "2 builds whole, 1 damaged and removed" in done.stdout
    assert run("cache", "verify", env=filled).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "env", "code", "says"),
    [
        (("cache", "prune", "--to", "lots"), {}, 2, "no size"),
        (("cache",), {"KBENCH_CACHE_SIZE": "lots"}, 2, "KBENCH_CACHE_SIZE"),
        (("cache",), {"KBENCH_CACHE": "/proc/none"}, 3, "cannot be written"),
    ],
)
def test_what_the_cache_says_of_mistakes(arguments: tuple[str, ...], env: dict[str, str], code: int, says: str) -> None:
    done = run(*arguments, env=env)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert says in done.stderr
    assert "fix: " in done.stderr


def test_the_light_path_alone_refuses_what_it_cannot_build(tmp_path: Path) -> None:
    solution = tmp_path / "outside.py"
    text = Path(CPP).read_text()
    solution.write_text(
        text.replace("cpp_sources=", "cpp_sources='at::Tensor d(at::Tensor x) { return x.digamma(); }' + ", 1)
    )
    assert solution.read_text() != text
    done = run(
        "eval", str(BROKEN.parent / "fixtures" / "affine.py"), str(solution), "--budget", "0.1", "--build", "light"
    )
    assert done.returncode == 1
    assert "UNSUPPORTED" in done.stdout
    assert "light path cannot build it" in done.stdout.replace("\n", " ").replace("  ", " ")


def test_root_is_found(tmp_path: Path) -> None:
    done = run("build", f"{PAIR}/epilogue_cpp", "--root", str(ROOT), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
