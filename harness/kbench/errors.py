"""What can go wrong on our side of the table, and how the command line ends for it.

    KbenchError
    |-- UsageFault      exit 2: a wrong option, a path that does not exist
    |-- ProblemFault    exit 2: the problem file is at fault, also when it exits or hangs
    |-- MachineFault    exit 3: this machine cannot do what was asked
    |   `-- DoesNotFit  too large for this device; others may do
    `-- RefereeDied     exit 4: a bug in kbench; the one case that shows a traceback

A fault of the *solution* is never an exception: it is a verdict in a Result.
"""

from __future__ import annotations

REPORT_IT = "this is a bug in kbench; please report it with the output of kbench doctor --report"


class KbenchError(Exception):
    """A message that says what and where, and a `fix` that says what to do."""

    exit_code = 4

    def __init__(self, message: str, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class UsageFault(KbenchError):
    exit_code = 2


class ProblemFault(KbenchError):
    exit_code = 2


class MachineFault(KbenchError):
    exit_code = 3


class DoesNotFit(MachineFault):
    pass


class RefereeDied(KbenchError):
    exit_code = 4


BY_NAME: dict[str, type[KbenchError]] = {
    kind.__name__: kind for kind in (UsageFault, ProblemFault, MachineFault, DoesNotFit, RefereeDied)
}
