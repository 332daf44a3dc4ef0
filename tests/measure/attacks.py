"""Prints what attacks on the clock claim and what is believed: python tests/measure/attacks.py, on a GPU."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import trust
from conftest import ROOT, quick
from kbench.client import Referee
from kbench.records import Result

TIMING_ROWS = {1, 3, 5, 6, 9, 10, 21, 66, 67, 69, 92}


def main() -> None:
    cases = [case for case in (*trust.cheats(gpu=True), *trust.honest(gpu=True)) if set(case.rows) & TIMING_ROWS]
    print("| submission | claimed us | in batches us | singly us | believed us | of the reference us | verdict |")
    print("|---|---|---|---|---|---|---|")
    with Referee("cuda", root=str(ROOT)) as referee:
        for case in cases:
            settings = quick(device="cuda", budget_s=1.0)
            print(row(case.name, referee.evaluate(case.problem, case.path, case.workloads, settings)[0]), flush=True)


def row(name: str, result: Result) -> str:
    told = result.attestation
    seen = [told.claimed_ms, told.batch_ms, told.single_ms] if told else [None] * 3
    believed = result.timing.median_ms if result.timing and result.passed else None
    eager = result.baselines["eager"].median_ms if result.baselines else None
    figures = [f"{value * 1e3:.1f}" if value is not None else "" for value in (*seen, believed, eager)]
    return f"| {name} | {' | '.join(figures)} | {result.verdict}{', ' + told.status if told else ''} |"


if __name__ == "__main__":
    main()
