"""Measures what the README says of sweeps: run it on the machine in question, read the tables it prints.

python tests/measure/sweep.py cpu             one by one against kbench run
python tests/measure/sweep.py gpu             how long a GPU is held for a pair, and what for
python tests/measure/sweep.py gpus            one GPU against all
python tests/measure/sweep.py rates ONE ALL   the same of two runs that are there
python tests/measure/sweep.py beside          whether builds beside the timing change it
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import yaml
from kbench.records import Result
from kbench.report.compare import ratio_between

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
KBENCH = [sys.executable, "-m", "kbench.cli.main"]
FIVE = yaml.safe_load((ROOT / "configs" / "seeds.yaml").read_text())["problems"]
FIRST = "problems:\n" + "".join(f"  - {problem}\n" for problem in FIVE)
BUNDLED = f"{FIRST}solutions: ['*_torch', '*_cuda']\n"
WILD = f"problems: {HERE}/wild/problems/*.py\nsets:\n  wild: {HERE}/wild/solutions\n"
SLOW_BUILDS = 240
SLOW_BUILD = "#include <torch/csrc/autograd/variable.h>  // which only torch's own headers have"


def run(config: str, output: Path, *options: str) -> tuple[float, list[dict[str, Any]]]:
    """A sweep, how long it took and its results."""
    file = output.with_suffix(".yaml")
    file.write_text(config)
    began = time.monotonic()
    done = subprocess.run(
        [*KBENCH, "run", str(file), "--root", str(ROOT), "--output", str(output), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - began
    if done.returncode > 1:
        print(done.stderr[-3000:])
    return seconds, results(output)


def results(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (output / "results.jsonl").read_text().splitlines()]


def name(result: dict[str, Any]) -> tuple[str, str, str]:
    return result["problem"]["id"], result["problem"]["workload"], result["solution"]["id"]


def cpu(folder: Path) -> None:
    """Twenty bundled pairs, everything built: `kbench eval` one by one against `kbench run`."""
    config = f"device: cpu\n{FIRST}solutions: ['*_cpp', '*_torch']\nbudget: 0.5\n"
    run(config, folder / "build")
    seconds, swept = run(config, folder / "swept")
    alone: dict[tuple[str, str, str], dict[str, Any]] = {}
    began = time.monotonic()
    for result in swept:
        command = [*KBENCH, "eval", result["problem"]["id"], result["run"]["solution"], "--device", "cpu"]
        command += ["--workload", result["problem"]["workload"], "--budget", "0.5", "--baseline", "eager", "--json"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        one = json.loads(done.stdout)
        alone[name(one)] = one
    one_by_one = time.monotonic() - began
    print(f"{len(swept)} pairs: one by one {one_by_one:.1f} s, kbench run {seconds:.1f} s: {one_by_one / seconds:.2f}x")
    for result in swept:
        left, right = (msgspec.convert(one, Result) for one in (result, alone[name(result)]))
        ratio = ratio_between(left, right)
        assert ratio and left.timing and right.timing, (name(result), left.reason, right.reason)
        equal = ratio.ci95[0] <= 1 <= ratio.ci95[1]
        said = f"{ratio.value:.3f} [{ratio.ci95[0]:.3f}, {ratio.ci95[1]:.3f}]{'' if equal else ' APART'}"
        print(f"  {left.timing.median_ms:8.3f} {right.timing.median_ms:8.3f} ms  {name(result)[2]}  {said}")


def gpu(folder: Path) -> None:
    for title, config, budget in (("bundled", BUNDLED, 1.0), ("wild", WILD, 1.0)):
        text = f"device: cuda:0\nbudget: {budget}\n{config}"
        began = time.monotonic()
        run(text, folder / f"{title}-build")
        cold = time.monotonic() - began
        seconds, found = run(text, folder / title)
        print(f"\n{title}: {len(found)} pairs in {seconds:.1f} s, builds and all {cold:.1f} s before")
        table(found)


def table(found: list[dict[str, Any]]) -> None:
    held = [result["run"]["held_s"] for result in found]
    timed = [result["seconds"].get("timed", 0.0) for result in found]
    beside = [left - right for left, right in zip(held, timed, strict=True)]
    for what, values in (("held", held), ("measured", timed), ("beside", beside)):
        print(f"  {what:10} mean {statistics.fmean(values):.2f} s, most {max(values):.2f} s")
    for stage in ("load", "check", "time"):
        print(f"  {stage:10} mean {statistics.fmean(r['seconds'].get(stage, 0.0) for r in found):.2f} s")
    print(f"  over 2 s held: {sum(value > 2 for value in held)}, over 1 s beside: {sum(value > 1 for value in beside)}")
    for result, one, other in sorted(zip(found, held, beside, strict=True), key=lambda row: -row[2])[:6]:
        print(f"    {one:.2f} s held, {other:.2f} s beside: {name(result)[2]} {result['verdict']} {result['seconds']}")
    for result in found:
        if result["verdict"] != "passed":
            print(f"    {name(result)[2]}: {result['verdict']}: {result['reason']}")


def gpus(folder: Path) -> None:
    """All pairs of both collections in one sweep, on one GPU and on all: few would tell more of the first and last."""
    ours = shutil.copytree(ROOT / "solutions", folder / "ours", ignore=shutil.ignore_patterns("*_cpp.py"))
    both = f"problems:\n  - '*'\n  - {HERE}/wild/problems/*.py\n"
    both += f"sets:\n  bundled: {ours}\n  wild: {HERE}/wild/solutions\n"
    run(f"device: cuda\nbudget: 1\n{both}", folder / "build")
    rates = {}
    for device in ("cuda:0", "cuda"):
        output = folder / device.replace(":", "")
        run(f"device: '{device}'\nbudget: 1\n{both}", output)
        rates[device] = rate(output)
    print(f"ratio {rates['cuda'] / rates['cuda:0']:.2f}")


def rate(output: Path) -> float:
    """Pairs a minute from the first that a GPU was held for to the end of the last."""
    found = sorted(results(output), key=lambda result: str(result["run"]["finished"]))
    first, last = found[0]["run"], found[-1]["run"]
    span = _seconds(last["finished"]) - _seconds(first["finished"]) + first["held_s"]
    print(f"{output.name}: {len(found)} pairs in {span:.1f} s, {60 * len(found) / span:.1f} a minute")
    table(found)
    return 60 * len(found) / span


def beside(folder: Path) -> None:
    """Ten pairs alone, and while solutions that need torch's own headers are built beside them."""
    ten = f"device: cuda:0\nbudget: 2\n{FIRST}solutions: ['*_cuda', 'inplace_torch']\n"
    run(ten, folder / "build")
    _, first = run(ten, folder / "first")
    _, again = run(ten, folder / "again")
    slow = folder / "slow"
    text = next(ROOT.glob("solutions/training/conv_transpose3d*/epilogue_cuda.py")).read_text()
    for number in range(SLOW_BUILDS):
        target = slow / "training" / "conv_transpose3d_leaky_relu_multiply_max_pool" / f"slow_cuda_{number}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace('r"""\n', f'r"""\n{SLOW_BUILD} {number} {os.getpid()}\n'))
    # Several times, since compilers need some seconds until they are at work.
    sets = "".join(f"  {name}: {ROOT}/solutions\n" for name in "abcdef")
    with_builds = f"{ten}sets:\n{sets}  slow: {slow}\n"
    with_builds = with_builds.replace("'inplace_torch'", "'inplace_torch', 'slow_cuda_*'")
    found, samples = _until(with_builds, folder / "beside", 6 * len(first))
    busiest = _busiest(found, samples)
    print(f"compilers at work while each of them was timed, at least: {[count for count, _ in busiest]}")
    print(f"and from sample to sample: {[count for _, count in samples][::5]}")
    for what, other in (("again, alone", again), ("builds beside", [result for _, result in busiest])):
        known = {name(result): result["timing"]["median_ms"] for result in other if result["timing"]}
        ratios = {name(r)[2]: known[name(r)] / r["timing"]["median_ms"] for r in first if name(r) in known}
        print(f"{what}: {len(ratios)} pairs, largest change {max(abs(r - 1) for r in ratios.values()):.2%}")
        for pair, ratio in ratios.items():
            print(f"  {ratio - 1:+.2%}  {pair}")


def _busiest(found: list[dict[str, Any]], samples: list[tuple[float, int]]) -> list[tuple[int, dict[str, Any]]]:
    """Of each pair the result with the most compilers at work all the time that it was on the GPU."""
    best: dict[tuple[str, str, str], tuple[int, dict[str, Any]]] = {}
    for result in found:
        end = _seconds(result["run"]["finished"])
        beside = [count for at, count in samples if end - result["run"]["held_s"] <= at <= end]
        least = min(beside, default=0)
        if name(result) not in best or least > best[name(result)][0]:
            best[name(result)] = least, result
    return list(best.values())


def _until(config: str, output: Path, count: int) -> tuple[list[dict[str, Any]], list[tuple[float, int]]]:
    """A sweep that is interrupted once so many results are there; when how many compilers were at work meanwhile."""
    file = output.with_suffix(".yaml")
    file.write_text(config)
    process = subprocess.Popen([*KBENCH, "run", str(file), "--root", str(ROOT), "--output", str(output)])
    samples = []
    while process.poll() is None:
        time.sleep(0.2)
        samples.append((time.time(), _compilers()))
        if (output / "results.jsonl").exists() and len(results(output)) >= count:
            break
    process.send_signal(signal.SIGINT)
    process.wait()
    return results(output), samples


def _compilers() -> int:
    names = [path.read_text().strip() for path in Path("/proc").glob("[0-9]*/comm") if path.exists()]
    return sum(name in ("cicc", "cudafe++", "cc1plus", "ptxas") for name in names)


def _seconds(stamp: str) -> float:
    import datetime

    return datetime.datetime.fromisoformat(stamp).timestamp()


if __name__ == "__main__":
    if sys.argv[1] == "rates":
        one, every = (rate(Path(output)) for output in sys.argv[2:])
        print(f"ratio {every / one:.2f}")
    else:
        with tempfile.TemporaryDirectory() as temporary:
            {"cpu": cpu, "gpu": gpu, "gpus": gpus, "beside": beside}[sys.argv[1]](Path(temporary))
