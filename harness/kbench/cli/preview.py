"""`kbench run --dry-run`: the pairs, what is done already, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from kbench import units
from kbench.cli import sweep_progress
from kbench.errors import MachineFault
from kbench.records import Result
from kbench.sweep.crew import Crew
from kbench.sweep.estimate import Pace
from kbench.sweep.events import Place
from kbench.sweep.pair import Kind, Pair, key
from kbench.sweep.run import Rerun, Sweep, done_before
from kbench.sweep.schedule import kind_of
from kbench.sweep.store import RESULTS, read


def preview(
    pairs: list[Pair],
    devices: list[str],
    crew_of: Callable[[list[str]], Crew],
    folder: Path,
    rerun: Rerun | None,
) -> int:
    results = read(folder) if (folder / RESULTS).exists() else []
    firsts = {kind_of(name): name for name in reversed(devices)}
    by_kind: dict[Kind, Place] = {}
    done: dict[str, Result] = {}
    try:
        crew = crew_of(list(firsts.values()))
        places = Sweep(crew, list(firsts.values()), 0, sweep_progress.Lines()).gather()
        by_kind = {kind_of(name): place for name, place in places.items()}
        able = [pair for pair in pairs if pair.device in by_kind]
        done = done_before(able, by_kind, results, rerun)
    except MachineFault as fault:
        click.echo(f"kbench: what is done already cannot be told here: {fault.message}", err=True)
    todo = []
    for pair in pairs:
        result = done.get(key(pair, *by_kind[pair.device])) if pair.device in by_kind else None
        todo += [] if result else [pair]
        click.echo(units.printable(f"{'done' if result else 'todo'}  {pair.device:<4}  {pair.name}"))
    counts = {kind: sum(kind_of(name) == kind for name in devices) for kind in firsts}
    spent = sweep_progress.span(Pace(results).left(todo, counts))
    where = f"{folder}, {len(done)} of {units.plural(len(pairs), 'pair')} done"
    click.echo(f"{where}; about {spent} for the other {len(todo)}, builds apart" if todo else where)
    return 0
