"""`kbench cache`: what is kept of earlier builds, and how to be rid of it."""

from __future__ import annotations

import time

import click

from kbench import units
from kbench.build import cache as build_cache
from kbench.build.cache import Cache, Kept
from kbench.errors import MachineFault, UsageFault

HELP = """Show what is kept of earlier builds, the most recently used first.

It lies in KBENCH_CACHE, else in ~/.cache/kbench, and takes at most KBENCH_CACHE_SIZE (20 GB); what was not used for
the longest time goes first.
"""


@click.group(
    "cache", help=HELP, short_help="Show, prune or verify what earlier builds left.", invoke_without_command=True
)
@click.pass_context
def command(context: click.Context) -> int | None:
    if context.invoked_subcommand:
        return None
    store = _opened(reading=True)
    entries = store.kept()
    for entry in entries:
        click.echo(_line(entry))
    _total(store, entries)
    return 0


@command.command()
@click.option("--to", "size", metavar="SIZE", help="Keep at most this much, as 5GB; 0 removes everything.  [the limit]")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
def prune(size: str | None, dry_run: bool) -> int:
    """Remove what was not used for the longest time."""
    store = _opened()
    limit = _bytes(size) if size is not None else store.limit
    gone = store.surplus(limit) if dry_run else store.prune(limit)
    for entry in gone:
        click.echo(_line(entry))
    freed = units.size(sum(entry.size for entry in gone))
    click.echo(f"{'would remove' if dry_run else 'removed'} {units.plural(len(gone), 'build')}, {freed}")
    return 0


@command.command()
def verify() -> int:
    """Read every artifact and compare it with its hash; damaged ones are removed. Exit 1 if there were any."""
    store = _opened()
    entries = store.kept(check=True)
    damaged = [entry for entry in entries if entry.entry is None]
    for entry in damaged:
        click.echo(_line(entry))
        store.remove(entry.key)
    whole = units.plural(len(entries) - len(damaged), "build")
    click.echo(f"{whole} whole, {len(damaged)} damaged{' and removed' if damaged else ''}")
    return 1 if damaged else 0


def _opened(reading: bool = False) -> Cache:
    folder = build_cache.default_folder() or (build_cache.named_folder() if reading else None)
    if folder is None or not folder.is_dir():
        raise MachineFault("the cache's folder cannot be written", "set KBENCH_CACHE to a folder that can")
    return Cache(folder, limit=build_cache.size_limit())


def _line(kept: Kept) -> str:
    what = f"{kept.entry.name} ({kept.entry.path}, {kept.entry.seconds:.1f} s to build)" if kept.entry else "damaged"
    age = _age(time.time() - kept.used)
    return units.printable(f"{kept.key[:12]}  {units.size(kept.size):>9}  {age:>8}  {what}")


def _total(store: Cache, entries: list[Kept]) -> None:
    total = sum(entry.size for entry in entries)
    builds = units.plural(len(entries), "build")
    click.echo(f"{builds}, {units.size(total)} of {units.size(store.limit)}, in {store.folder}")


def _age(seconds: float) -> str:
    for limit, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= limit:
            return f"{seconds / limit:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _bytes(text: str) -> int:
    try:
        return units.parse_bytes(text)
    except ValueError:
        raise UsageFault(f"--to {text!r} is no size", "for instance --to 5GB") from None
