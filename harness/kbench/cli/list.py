"""`kbench list`: what there is under the root."""

from __future__ import annotations

from pathlib import Path

import click

from kbench import catalog
from kbench.cli.options import root_option
from kbench.errors import UsageFault


@click.command("list", short_help="List problems, solutions, or both.")
@click.argument("what", type=click.Choice(("all", "problems", "solutions")), default="all")
@root_option
def command(what: str, root: str | None) -> int:
    """List problems with their solutions, by the names that `kbench eval` takes."""
    found = catalog.find_root(root)
    if found is None:
        raise UsageFault("no folder with problems/ here or above", "go into the project, or give --root")
    if what in ("all", "problems"):
        _print_problems(found, with_solutions=what == "all")
    else:
        for path in catalog.entries("solutions", found):
            click.echo(catalog.identity(path, "solutions", found))
    return 0


def _print_problems(root: Path, with_solutions: bool) -> None:
    solutions = [catalog.identity(path, "solutions", root) for path in catalog.entries("solutions", root)]
    for path in catalog.entries("problems", root):
        name = catalog.identity(path, "problems", root)
        click.echo(name)
        if with_solutions:
            for solution in solutions:
                if solution.startswith(name + "/"):
                    click.echo(f"  {solution.removeprefix(name + '/')}")
