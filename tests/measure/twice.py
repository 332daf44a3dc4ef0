"""Whether two runs of the same sweep say the same: their medians, and what `kbench compare` calls them.

python tests/measure/twice.py configs/h200.yaml FOLDER    runs it twice, in fresh processes, into folders there
python tests/measure/twice.py FIRST SECOND                reads two runs that are there
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kbench.records import Result, Timing
from kbench.report.compare import ALIKE, Comparison, compare
from kbench.settings import EAGER
from kbench.sweep.store import read

ROOT = Path(__file__).resolve().parent.parent.parent
LEAST_MS = 0.1

Both = tuple[Comparison, Result, Result]


def run(config: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "kbench.cli.main", "run", str(config), "--root", str(ROOT)]
    subprocess.run([*command, "--output", str(folder)], stdout=subprocess.DEVNULL, check=False)


def pairs(first: Path, second: Path) -> Iterator[Both]:
    before, after = ({_name(one): one for one in read(folder)} for folder in (first, second))
    for found in compare(before.values(), after.values()).pairs:
        name = (found.problem, found.workload, found.solution)
        yield found, before[name], after[name]


def _name(one: Result) -> tuple[str, str, str]:
    return one.problem.id, one.problem.workload, one.solution.id


def timed(first: Result, second: Result) -> tuple[Timing, Timing] | None:
    return (first.timing, second.timing) if first.timing and second.timing else None


def agreeing(both: list[Both]) -> tuple[int, int]:
    """How many of those that take long enough have medians within two percent of each other."""
    times = [found for _, first, second in both if (found := timed(first, second))]
    long = [(one.median_ms, other.median_ms) for one, other in times if min(one.median_ms, other.median_ms) > LEAST_MS]
    return sum(abs(one / other - 1) <= ALIKE for one, other in long), len(long)


def line(found: Comparison, first: Result, second: Result) -> str:
    """One pair that is not the same, with what may be behind it."""
    eager = [one.baselines[EAGER].median_ms for one in (first, second) if EAGER in one.baselines]
    ratio = f"{found.ratio.value:.3f}" if found.ratio else ""
    drift = f"eager {eager[0] / eager[1]:.3f}" if len(eager) == 2 else ""
    gpu = "" if first.device.uuid == second.device.uuid else "another GPU"
    told = [one.attestation.status if one.attestation else "" for one in (first, second)]
    warned = sorted({warning.code for one in (first, second) for warning in one.warnings})
    return f"  {found.change:8} {found.solution:60} {ratio:>6} {drift}  {'/'.join(told)} {gpu} {warned}"


def main(first: Path, second: Path) -> None:
    both = list(pairs(first, second))
    within, long = agreeing(both)
    changes = Counter(found.change for found, _, _ in both)
    moved = sum(one.device.uuid != other.device.uuid for _, one, other in both)
    print(f"{within} of {long} over {LEAST_MS * 1e3:.0f} us have medians within {ALIKE:.0%}")
    print(f"{changes['SAME']} of {len(both)} SAME: {dict(changes)}; {moved} ran on another GPU")
    for found, one, other in both:
        if found.change != "SAME":
            print(line(found, one, other))


if __name__ == "__main__":
    one, other = map(Path, sys.argv[1:])
    if one.is_file():
        for name in ("first", "second"):
            run(one, other / name)
        one, other = other / "first", other / "second"
    main(one, other)
