"""`kbench`: the group of commands, and the one place that turns errors into exit codes."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback
from typing import NoReturn

import click

from kbench import __version__
from kbench.errors import REPORT_IT, KbenchError, RefereeDied

COMMANDS = {
    "eval": "Evaluate one solution of one problem.",
    "run": "Evaluate many pairs, as a configuration says.",
    "leaderboard": "Rank sets and solutions of one or several runs.",
    "compare": "Say what changed between two runs.",
    "show": "Show everything about one result.",
    "build": "Build solutions ahead of time, without a GPU.",
    "cache": "Show, prune or verify what earlier builds left.",
    "list": "List problems, solutions, or both.",
    "lint-problem": "Look for what makes a problem easy to cheat.",
    "doctor": "Say what this machine has and what it lacks.",
    "schema": "Print the JSON schema of a result or a configuration.",
}
INTERRUPTED = 130
EXIT_CODES = """\b
Exit codes:
  0  every result passed
  1  a solution did not pass; the verdict says why
  2  wrong usage, a path that does not exist, a fault of the problem file
  3  this machine cannot do it (no such device, no compiler, no memory)
  4  a bug in kbench
  130  interrupted
"""


class Lazy(click.Group):
    """Imports a command when it is named, and for `--help` none, so that it answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = importlib.import_module(f"kbench.cli.{name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Lazy, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", package_name="kbench-harness", prog_name="kbench")
def kbench() -> None:
    """Build, check and time GPU kernel solutions against a PyTorch reference."""


def entry() -> NoReturn:
    """The command line's top: catches everything once."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        code = kbench.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = 2
    except (click.Abort, KeyboardInterrupt):
        print("\ninterrupted", file=sys.stderr)
        code = INTERRUPTED
    except KbenchError as error:
        _show(error)
        code = error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 1
    except Exception:  # noqa: BLE001  the command line's top
        traceback.print_exc()
        print(f"kbench: {REPORT_IT}", file=sys.stderr)
        code = RefereeDied.exit_code
    sys.exit(code if isinstance(code, int) else 0)


def _show(error: KbenchError) -> None:
    print(f"kbench: {error.message}", file=sys.stderr)
    if error.fix:
        print(f"  fix: {error.fix}", file=sys.stderr)


if __name__ == "__main__":
    entry()
