"""Writes what README.md and solutions/README.md show of results/h200: python tests/collection.py"""

from __future__ import annotations

import ast
from pathlib import Path

import page
from kbench import units
from kbench.records import Result, Speedup
from kbench.report import summary
from kbench.report.standing import baselines, groups
from kbench.sweep.store import read

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "h200"
PAGES = {"head": ROOT / "README.md", "series": ROOT / "solutions" / "README.md"}
BEGIN = "<!-- {}: made by tests/collection.py -->"
SHOWN = 3  # problems of each family
SERIES = {
    "single/softmax": ("naive_cuda", "three_passes_torch", "online_cuda", "block_cuda", "registers_cuda"),
    "single/matmul": ("naive_cuda", "shared_cuda", "registers_cuda", "transposed_torch"),
    "fusion/normalise_and_scale": ("naive_cuda", "reciprocal_torch", "warps_cuda", "registers_cuda"),
    "block/selective_scan": ("rates_first_torch", "graph_cuda", "states_cuda", "lanes_cuda"),
    "training/adamw_step": ("strided_cuda", "in_place_torch", "scalar_cuda", "one_pass_cuda"),
}


def head() -> str:
    """Both baselines in a line each, and the problems of each family where most was gained."""
    found = read(RESULTS)
    lines = [f"| over | problems | faster | {' | '.join(f'{p:g}x' for p in summary.FAST[1:])} | mean |"]
    lines += ["|---|---|---|" + "---|" * len(summary.FAST)]
    for name in baselines(found):
        (group,) = groups(found, name)
        (ours,) = summary.sets(group)
        timed = sum(one.best is not None and one.best.speedup is not None for one in summary.problems(group))
        shares = " | ".join(str(ours.fast[p]) for p in summary.FAST)
        lines.append(f"| {name} | {timed} | {shares} | {_times(ours.geomean)} |")
    lines += ["", "| problem | solution | time | over eager | over compiled |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *_most_gained(found)])


def _most_gained(found: list[Result]) -> list[str]:
    (group,) = groups(found, "eager")
    bests = sorted(
        (one.best for one in summary.problems(group) if one.best and one.best.speedup),
        key=lambda one: (one.problem.split("/")[0], -(one.speedup.value if one.speedup else 0.0)),
    )
    compiled = {one.solution.id: one.speedup.get("compile") for one in found}
    lines, families = [], [one.problem.split("/")[0] for one in bests]
    for number, one in enumerate(bests):
        if number - families.index(families[number]) >= SHOWN:
            continue
        name, took = one.solution.split("/")[-1], units.duration(one.median_ms or 0.0)
        over = f"{_times(one.speedup)} | {_times(compiled[one.solution])}"
        lines.append(f"| {one.problem} | {name} | {took} | {over} |")
    return lines


def series() -> str:
    """Each story step by step: what the file says of itself, and what the H200 said of it."""
    found = {one.solution.id: one for one in read(RESULTS)}
    parts = []
    for problem, steps in SERIES.items():
        eager = found[f"{problem}/{steps[0]}"].baselines["eager"].median_ms
        parts += [f"### {problem}", "", f"The reference takes {units.duration(eager)}.", ""]
        parts += ["| solution | what it does | time |", "|---|---|---|"]
        for step in steps:
            timing = found[f"{problem}/{step}"].timing
            assert timing
            parts.append(f"| `{step}` | {told(problem, step)} | {units.duration(timing.median_ms)} |")
        parts.append("")
    return "\n".join(parts[:-1])


def told(problem: str, step: str) -> str:
    """The first paragraph of a solution's docstring, in one line."""
    text = ast.get_docstring(ast.parse((ROOT / "solutions" / problem / f"{step}.py").read_text()))
    assert text
    return " ".join(text.split("\n\n")[0].split())


def _times(speedup: Speedup | None) -> str:
    return f"{speedup.value:.2f}x [{speedup.ci95[0]:.2f}, {speedup.ci95[1]:.2f}]" if speedup else ""


def written(name: str, text: str) -> str:
    """The page with what is made in its place."""
    made = {"head": head, "series": series}[name]()
    return page.filled(text, BEGIN.format(name), made)


if __name__ == "__main__":
    for name, path in PAGES.items():
        path.write_text(written(name, path.read_text()))
