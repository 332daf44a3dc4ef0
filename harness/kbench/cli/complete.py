"""Shell completion of problem and solution names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from kbench import catalog
from kbench.errors import UsageFault

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def names(kind: catalog.Kind) -> Completer:
    """Short names below the root, and files beside them."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            root = catalog.find_root(ctx.params.get("root"))
        except UsageFault:
            root = None
        known = [catalog.identity(path, kind, root) for path in catalog.entries(kind, root)]
        fitting = [name for name in known if name.startswith(incomplete) or _last(name).startswith(incomplete)]
        shown = [name if name.startswith(incomplete) else _last(name) for name in fitting]
        return [CompletionItem(name) for name in shown] + _files(incomplete, kind)

    return complete


def _files(incomplete: str, kind: catalog.Kind) -> list[CompletionItem]:
    if "/" not in incomplete and not incomplete.startswith("."):
        return []
    folder, _, start = incomplete.rpartition("/")
    paths = sorted(Path(folder or ".").glob(f"{start}*")) if Path(folder or ".").is_dir() else []
    fitting = [path for path in paths if path.is_dir() or path.suffix in catalog.SUFFIXES[kind]]
    return [CompletionItem(f"{path}/" if path.is_dir() else str(path)) for path in fitting]


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]
