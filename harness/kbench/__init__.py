"""kbench builds a GPU kernel solution, checks it against a PyTorch reference, times it, and says how much faster it is.

`evaluate(problem, solution)` is the Python twin of `kbench eval`; `Referee` keeps a warm one for many pairs;
`load_results(folder)` gives the results of `kbench run` as a pandas table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["KbenchError", "Referee", "Result", "Settings", "__version__", "evaluate", "load_results"]

if TYPE_CHECKING:
    from kbench.client import Referee, evaluate
    from kbench.errors import KbenchError
    from kbench.records import Result
    from kbench.settings import Settings
    from kbench.sweep.load import load_results

_HOMES = {
    "Referee": "kbench.client",
    "evaluate": "kbench.client",
    "KbenchError": "kbench.errors",
    "Result": "kbench.records",
    "Settings": "kbench.settings",
    "load_results": "kbench.sweep.load",
}


def __getattr__(name: str) -> Any:
    """Imports on first use: `kbench --help` must not wait for what it does not need."""
    import importlib

    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kbench' has no attribute {name!r}")
