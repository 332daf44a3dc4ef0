"""Measures what the README and the release notes say of a GPU: run it there, read the tables it prints.

python tests/measure/h200.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from kbench.client import Referee
from kbench.records import Result
from kbench.settings import Settings

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
PAIR = "fusion/conv2d_divide_leaky_relu"
HONEST = [("elementwise", size) for size in ("4KB", "4MB", "64MB", "512MB", "2GB")]
HONEST += [("matmul", size) for size in ("512", "1024", "2048", "4096", "5120")]


def row(name: str, result: Result) -> str:
    told = result.attestation
    if told is None:
        return f"{name:44} {'':39} {result.verdict}: {result.reason}"
    figures = "".join(f"{(value or 0) * 1e3:10.1f}" for value in (told.claimed_ms, told.batch_ms, told.single_ms))
    return f"{name:44}{figures} {told.status:>12}  {result.verdict}"


def attestation(referee: Referee) -> None:
    print(f"\n{'claimed against trusted, us':44}{'claimed':>10}{'batch':>10}{'single':>10}")
    settings = Settings(device="cuda", budget_s=1.0)
    for name, size in HONEST:
        problem = HERE / "fixtures" / f"{name}.py"
        print(row(f"honest {name} {size}", referee.evaluate(problem, problem, (size,), settings)[0]), flush=True)
    for attack in sorted((HERE / "broken" / "gpu").glob("*.py")):
        if attack.name.startswith(("cheated", "wrong", "passed")):
            problem = HERE / "fixtures" / "matmul.py"
            print(row(attack.stem, referee.evaluate(problem, attack, ("2048",), settings)[0]), flush=True)


def identity(referee: Referee) -> None:
    """Solutions that are the reference renamed: the interval of the speedup should contain 1."""
    print("\nthe reference against itself")
    widths, holding, meeting = [], 0, 0
    cases = [(ROOT / "problems" / f"{pair}.py", "default") for pair in PAIRS]
    cases += [(HERE / "fixtures" / "elementwise.py", size) for size in ("64MB", "512MB")]
    cases += [(HERE / "fixtures" / "matmul.py", size) for size in ("1024", "2048", "4096")]
    for problem, workload in cases:
        result = referee.evaluate(problem, problem, (workload,), Settings(device="cuda"))[0]
        if not result.speedup:
            print(problem.stem, workload, result.verdict, result.reason)
            continue
        low, high = result.speedup["eager"].ci95
        widths.append(high - low)
        holding += low <= 1 <= high
        meeting += low <= 1.02 and high >= 0.98
        print(f"{problem.stem:52}{workload:>8} {result.verdict} [{low:.4f}, {high:.4f}]", flush=True)
    print(f"{holding} of {len(cases)} contain 1.00, {meeting} meet [0.98, 1.02], widest {max(widths):.2%}")


PAIRS = [
    "fusion/conv2d_divide_leaky_relu",
    "fusion/conv2d_multiply_leaky_relu_gelu",
    "fusion/conv_transpose2d_add_min_gelu_multiply",
    "training/conv2d_multiply_leaky_relu_gelu",
    "training/conv_transpose3d_leaky_relu_multiply_max_pool",
]


def separate_runs(count: int) -> None:
    """The median of one pair over separate runs, and how long each run takes from start to verdict."""
    print("\nseparate runs of one pair")
    medians, seconds = [], []
    for _ in range(count):
        began = time.monotonic()
        command = [sys.executable, "-m", "kbench.cli.main", "eval", PAIR, f"{PAIR}/epilogue_cuda", "--json"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        seconds.append(time.monotonic() - began)
        result = __import__("json").loads(done.stdout)
        medians.append(result["timing"]["median_ms"])
    spread = (max(medians) - min(medians)) / statistics.median(medians)
    print("medians, ms:", " ".join(f"{value:.4f}" for value in medians))
    print(f"spread {spread:.2%}; seconds: {' '.join(f'{value:.2f}' for value in seconds)}, slowest {max(seconds):.2f}")


def large_input() -> None:
    problem = HERE / "fixtures" / "large_relu.py"
    for _ in range(2):
        began = time.monotonic()
        with Referee("cuda") as fresh:
            result = fresh.evaluate(problem, problem, ("default",), Settings(device="cuda"), more=False)[0]
        print(
            f"6.4 GB ReLU: {result.verdict} {result.reason or ''} in {time.monotonic() - began:.1f} s {result.seconds}"
        )


if __name__ == "__main__":
    separate_runs(10)
    large_input()
    with Referee("cuda", root=str(ROOT)) as warm:
        attestation(warm)
        identity(warm)
