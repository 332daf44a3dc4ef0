"""`kbench schema`: the JSON schemas of a result and of a sweep's configuration."""

from __future__ import annotations

import json

import click

from kbench.records import result_schema
from kbench.sweep.schema import config_schema

SCHEMAS = {"result": result_schema, "config": config_schema}


@click.command("schema", short_help="Print the JSON schema of a result or a configuration.")
@click.argument("what", type=click.Choice(tuple(SCHEMAS)), default="result")
def command(what: str) -> int:
    """Print a JSON schema: of the objects that `kbench eval --json` prints, or of what `kbench run` reads.

    Editors take the latter for completion: kbench schema config > kbench.schema.json, then a first line in the file,
    "# yaml-language-server: $schema=kbench.schema.json".
    """
    click.echo(json.dumps(SCHEMAS[what](), indent=2))
    return 0
