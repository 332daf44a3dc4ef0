"""Writes the tables of SECURITY.md that list the corpus: python tests/matrix.py"""

from __future__ import annotations

from pathlib import Path

import page
import trust
from trust import Case

SECURITY = Path(__file__).parents[1] / "SECURITY.md"
BEGIN = "<!-- made by tests/matrix.py -->"

ROWS = {
    1: "clocks and waits patched in Python",
    3: "measured times overwritten in memory",
    4: "medians and means forged",
    5: "the work of several calls done in one",
    6: "one graph captured over several calls",
    8: "less work than the score counts",
    9: "work where no clock looks",
    10: "inputs kept in the cache over the flush",
    11: "the baseline slowed down",
    13: "answers kept by pointer, identity or version",
    14: "answers kept by a fingerprint of some elements",
    15: "whole inputs kept and compared",
    16: "answers kept by shape",
    17: "honest at first, replayed later",
    18: "a prepared form of an input used again",
    19: "answers kept on disk or in another process",
    20: "answers for known seeds",
    21: "coming inputs predicted or read ahead",
    23: "one output buffer for all calls",
    24: "what the allocator left in memory",
    25: "reads out of bounds that happen to pass",
    26: "no work on a buffer that holds an answer",
    27: "inputs changed so that less is to do",
    28: "expected outputs looked for on the heap",
    29: "expected outputs looked for in GPU memory",
    30: "NaN and infinity as wildcards",
    32: "figures made up that nobody can compute again",
    33: "outputs below the absolute tolerance",
    34: "problems with constant outputs",
    35: "weights that begin as ones and zeros left out",
    36: "operations that change usual inputs little",
    37: "right in the usual range only",
    38: "structure of inputs or dead work used",
    40: "exact at some shapes, sloppy at others",
    41: "hard-coded shapes",
    42: "lower precision than declared",
    43: "a share of the elements left out",
    44: "holes in the comparison",
    45: "some outputs not checked",
    46: "luck",
    47: "modes and running statistics",
    48: "the comparison patched",
    50: "names of the harness or the problem redefined",
    51: "functions patched that the reference uses",
    52: "a verdict forged, then an exit",
    54: "secrets looked for in memory",
    55: "hostile messages and pickles",
    56: "the parent process attacked",
    57: "files of the harness edited or shadowed",
    58: "settings by way of the environment",
    59: "attacks while something is built",
    60: "code hidden from searches",
    61: "finding out whether it is timed",
    63: "text that addresses a judge",
    64: "lazy tensors and proxies",
    66: "streams that are not joined",
    67: "work after the answer, in a thread or process",
    68: "work on another device",
    69: "graphs with stale pointers",
    73: "libraries called, nothing written",
    74: "libraries called from an extension",
    75: "falling back silently",
    76: "the reference called",
    77: "kernels for show",
    78: "a trivial kernel, the rest by libraries",
    79: "libraries pasted in",
    80: "generated code as a kernel",
    81: "gradients and states left out",
    82: "a smaller problem solved",
    84: "load on the GPU",
    85: "clocks and power changed",
    86: "killing and stopping others",
    87: "resources used up",
    88: "the network",
    89: "something left for the next one",
    90: "other solutions and results read",
    91: "ways out of the jail",
    92: "inputs that stay in the cache",
    93: "first calls inside or outside the timing",
    94: "tuning while timed",
    95: "flags of the process",
    96: "a weak baseline",
    97: "overhead of launches as speedup",
    98: "power that depends on data",
    99: "weights prepared untimed",
    100: "weak statistics",
    101: "allocators on one side",
    102: "misleading aggregation",
    103: "impossible results",
}
# Rows without a file of their own: what holds instead.
ELSEWHERE = {
    8: "not applicable: the time of a verified call is all that counts",
    32: "not applicable: only tensors that the reference computes are compared",
    34: "`kbench lint-problem`, `tests/test_lint.py`",
    38: "what holds for all inputs of a problem may be used; `tests/test_inputs.py` keeps such structure",
    59: "`tests/test_builder.py`, `tests/test_cache.py`, `tests/broken/solutions/build_failed__runs_a_program.py`",
    79: "not judged: a kernel is the solution's own, wherever its text was found",
    84: "the lease keeps our own processes apart, `tests/test_lease.py`; others show in telemetry",
    85: "telemetry in every result, `tests/test_warn.py`",
    93: "first calls are never timed, on either side",
    94: "timed calls have contents that were not there before; tuning on them shows as time",
    95: "each side has a process of its own; settings that change are named in the result",
    96: "baselines are named in the result; compiled ones on demand",
    97: "`loose`, `tests/test_attest.py`",
    98: "contents keep the problem's own distribution, `tests/test_inputs.py`",
    99: "not judged yet: weights may be packed untimed",
    100: "`tests/test_stats.py`",
    101: "one allocator policy for both sides, device/heap.py",
    102: "`tests/test_standing.py`, `tests/test_board.py`",
    103: "`referee/floor.py`, `tests/test_floor.py`",
}


def table() -> str:
    cheats = [*trust.cheats(), *trust.cheats(gpu=True)]
    twins = [*trust.honest(), *trust.honest(gpu=True)]
    lines = [
        f"{len(cheats)} cheats and {len(twins)} honest twins. A name begins with what it must end as.",
        "",
    ]
    lines += ["| row | mechanism | cheats | honest twins |", "|---|---|---|---|"]
    for row, title in ROWS.items():
        tried = "<br>".join(_shown(case) for case in cheats if row in case.rows) or ELSEWHERE[row]
        lines.append(f"| {row} | {title} | {tried} | {'<br>'.join(_shown(c) for c in twins if row in c.rows)} |")
    return "\n".join(lines)


def written(text: str) -> str:
    """The page with the tables in their place."""
    return page.filled(text, BEGIN, table())


def _shown(case: Case) -> str:
    return f"{case.name}{' (GPU)' if case.gpu else ''}"


if __name__ == "__main__":
    SECURITY.write_text(written(SECURITY.read_text()))
