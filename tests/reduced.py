"""Prints which cheats end otherwise where the jail lacks layers: python tests/reduced.py

Run it as a user without rights, in a clone of its own: without the jail these files do what they say they do.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import trust
from conftest import ROOT, quick
from kbench.client import Referee
from kbench.errors import KbenchError
from kbench.jail.layers import NAMESPACES
from trust import Case

JAILS = {
    "no namespaces": (*NAMESPACES, "pid_max"),
    "no Landlock": ("landlock",),
    "neither": (*NAMESPACES, "pid_max", "landlock"),
    "nothing at all": (*NAMESPACES, "pid_max", "landlock", "seccomp", "capabilities", "no_new_privs"),
}
# Without namespaces they would end this program, or fill the machine's own disk.
NOT_TRIED = ("crashed__kills_everything", "crashed__fills_the_disk", "crashed__fork_bomb")


def verdicts(case: Case, referees: dict[str, Referee], folder: Path) -> dict[str, str]:
    solution = case.placed(folder)
    found = {}
    for jail, referee in referees.items():
        if "user" in JAILS[jail] and case.name in NOT_TRIED:
            found[jail] = "not tried"
            continue
        try:
            result = referee.evaluate(case.problem, solution, case.workloads, quick(timeouts=trust.PATIENCE))[0]
            found[jail] = result.verdict
        except KbenchError as fault:
            found[jail] = f"no verdict, {type(fault).__name__}"
    return found


def main() -> None:
    cases = trust.cheats()
    referees = {jail: Referee("cpu", root=str(ROOT), without=layers) for jail, layers in JAILS.items()}
    others: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for case in cases:
            found = verdicts(case, referees, Path(temporary))
            if any(verdict != case.verdict for verdict in found.values()):
                others[case.name] = {jail: "as named" if said == case.verdict else said for jail, said in found.items()}
            print(case.name, found, file=sys.stderr, flush=True)
    for referee in referees.values():
        referee.close()
    print(
        f"{len(cases) - len(others)} of {len(cases)} end as they are named with every one of these jails. The others:\n"
    )
    print(f"| cheat | {' | '.join(JAILS)} |\n|---|{'---|' * len(JAILS)}")
    for name, found in others.items():
        print(f"| {name} | {' | '.join(found.values())} |")


if __name__ == "__main__":
    main()
