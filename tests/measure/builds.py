"""Builds side by side with torch's own: times, and on a GPU machine device code, outputs, overhead of a call.

python tests/measure/builds.py            # the bundled solutions: all tables
python tests/measure/builds.py wild       # the thirty of tests/wild: which path, and whether they agree
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import building  # noqa: E402
import sass  # noqa: E402
import torch  # noqa: E402

TIMED = """
import sys, time, importlib.util
import torch, torch.utils.cpp_extension as c
if torch.cuda.is_available():
    torch.cuda.init()
spent = 0.0
def timed(f):
    def call(*a, **k):
        global spent
        began = time.monotonic()
        try:
            return f(*a, **k)
        finally:
            spent += time.monotonic() - began
    return call
c.load_inline, c.load = timed(c.load_inline), timed(c.load)
sys.path.insert(0, sys.argv[3])
import building
problem = building.imported(building.Path(sys.argv[1]), "problem")
solution = building.imported(building.Path(sys.argv[2]))
solution.ModelNew(*problem.get_init_inputs())
print(spent)
"""


def torchs_own(solution: Path) -> float | None:
    """Seconds that torch takes for a solution's extensions, in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", TIMED, str(building.problem_of(solution)), str(solution), str(HERE)]
        environment = {**os.environ, "TORCH_EXTENSIONS_DIR": folder, "TMPDIR": folder}
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        print(f"  torch's own fails: {run.stderr.strip().splitlines()[-1][:200]}")
    return None if run.returncode else float(run.stdout.split()[-1])


def first_build(cache: Path, solution: Path) -> None:
    """Nothing prepared: the glue is made on the way."""
    local = building.start(cache)
    local.arch_list = building.arch()
    _, seconds, _ = building.made(local, solution, "auto")
    print(f"very first build on a machine, glue included: {seconds:.1f} s")


def times(cache: Path, solutions: list[Path]) -> None:
    local, again = building.start(cache), building.start(cache)
    local.arch_list = again.arch_list = building.arch()
    print(f"{'solution':60}{'torch':>8}{'light':>8}{'ratio':>8}{'cached':>8}")
    for solution in solutions:
        own = torchs_own(solution) or float("nan")
        _, light, outcomes = building.made(local, solution, "light")
        _, cached, _ = building.made(again, solution, "light")
        assert not any(outcome.cached for outcome in outcomes)
        name = str(solution.relative_to(ROOT / "solutions"))
        print(f"{name:60}{own:8.1f}{light:8.2f}{own / light:8.1f}{cached:8.3f}", flush=True)


def agreement(cache: Path, solutions: list[Path]) -> None:
    local = building.start(cache)
    local.arch_list = building.arch()
    light_count = 0
    for solution in solutions:
        try:
            light, light_s, outcomes = building.made(local, solution, "auto")
            code = [sass.functions(artifact) for artifact in local.artifacts]
            full, _, _ = building.made(local, solution, "full")
            full_code = [sass.functions(artifact) for artifact in local.artifacts]
            same_code = full_code == code
            if not same_code:
                print("  " + "; ".join(map(sass.difference, code, full_code)))
            a, b = building.outputs(light, solution), building.outputs(full, solution)
            same = len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b, strict=True))
        except Exception as error:  # noqa: BLE001  the table goes on
            print(f"{solution.stem:50} FAILS {str(error).strip()[-400:]}", flush=True)
            continue
        paths = {outcome.path for outcome in outcomes}
        why = "; ".join(outcome.why_full or "" for outcome in outcomes)
        light_count += paths == {"light"}
        print(
            f"{solution.stem:50}{'/'.join(map(str, paths)):8}{light_s:7.2f} s  device code "
            f"{'same' if same_code else 'DIFFERS'}, outputs {'same' if same else 'DIFFER'}  {why[:160]}",
            flush=True,
        )
    print(f"{light_count} of {len(solutions)} by the light path")


EMPTY = {
    "cpp_sources": "torch::Tensor f(torch::Tensor x, double a, int64_t n);",
    "cuda_sources": """#include <c10/cuda/CUDAStream.h>
__global__ void k() {}
torch::Tensor f(torch::Tensor x, double a, int64_t n) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "no");
  auto out = torch::empty_like(x);
  k<<<1, 1, 0, c10::cuda::getCurrentCUDAStream()>>>();
  return out;
}""",
    "functions": ["f"],
}


def overhead(cache: Path) -> None:
    """Host time of a call: conversions, checks, an allocation, an empty kernel."""
    local = building.start(cache)
    local.arch_list = building.arch()
    import torch.utils.cpp_extension as cpp

    modules = {}
    for mode in ("light", "full"):
        with building.intercepted(local, mode):  # type: ignore[arg-type]
            modules[mode] = cpp.load_inline(name="empty_call", **EMPTY)
    x = torch.zeros(1024, device="cuda")
    figures: dict[str, list[float]] = {"light": [], "full": []}
    for _ in range(15):
        for mode, module in modules.items():
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(500):
                module.f(x, 1.0, 2)
            figures[mode].append((time.perf_counter() - began) / 500 * 1e6)
            torch.cuda.synchronize()
    for mode, values in figures.items():
        values = sorted(values)
        print(f"a call by the {mode} path: {values[len(values) // 2]:.2f} us ({values[0]:.2f} to {values[-1]:.2f})")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(os.environ.get("KBENCH_MEASURE_CACHE", folder))
        if sys.argv[1:2] == ["wild"]:
            building.full_in_parallel(cache, building.WILD)
            agreement(cache, building.WILD)
        elif not torch.cuda.is_available():
            first_build(cache / "first", building.BUNDLED_CPP[0])
            times(cache / "first", building.BUNDLED_CPP)
        else:
            first_build(cache / "first", building.BUNDLED[0])
            times(cache / "first", building.BUNDLED)
            building.full_in_parallel(cache / "first", building.BUNDLED)
            agreement(cache / "first", building.BUNDLED)
            overhead(cache / "first")


if __name__ == "__main__":
    main()
