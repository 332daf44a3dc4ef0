"""`kbench schema`: the JSON schema of a result."""

from __future__ import annotations

import json

import click

from kbench.records import result_schema


@click.command("schema", short_help="Print the JSON schema of a result.")
def command() -> int:
    """Print the JSON schema of the objects that `kbench eval --json` prints."""
    click.echo(json.dumps(result_schema(), indent=2))
    return 0
