"""`kbench doctor`: what this machine has, what it lacks, and the command that mends it."""

from __future__ import annotations

import platform
import sys

import click

from kbench import __version__, examine
from kbench.examine import Finding

MARKS = {"ok": "ok  ", "warn": "warn", "fail": "fail"}


@click.command("doctor", short_help="Say what this machine has and what it lacks.")
@click.option("--report", is_flag=True, help="Everything in a form to paste into a bug report.")
def command(report: bool) -> int:
    """Check Python, torch, compilers, GPU, jail and disk. Exit 3 where a line says fail."""
    findings = examine.all_findings()
    if report:
        _print_report(findings)
    else:
        for finding in findings:
            _print(finding)
    return 3 if any(finding.state == "fail" for finding in findings) else 0


def _print(finding: Finding) -> None:
    click.echo(f"{MARKS[finding.state]}  {finding.name:<10} {finding.text}")
    if finding.fix:
        click.echo(f"{'':17}fix: {finding.fix}")


def _print_report(findings: list[Finding]) -> None:
    click.echo("```")
    click.echo(f"kbench {__version__}, Python {platform.python_version()} at {sys.executable}, {platform.platform()}")
    for finding in findings:
        click.echo(f"{finding.state}: {finding.name}: {finding.text}")
    click.echo("```")
