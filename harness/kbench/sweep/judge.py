"""The real judge and builder of a sweep: warm referees."""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import structs

from kbench.build import toolchain
from kbench.client import Referee
from kbench.errors import UsageFault
from kbench.records import DeviceInfo, Environment, Result, Run, Settings
from kbench.settings import EAGER
from kbench.sweep.built import Built
from kbench.sweep.events import Place
from kbench.sweep.kept import Shelf, against
from kbench.sweep.pair import Kind, Pair, key
from kbench.sweep.quiet import Quiet

COMPILED_BUDGET_S = 2.0


class Bench:
    """One device: a warm referee, beside which compiled baselines are kept."""

    def __init__(
        self, device: str, root: Path | None, quiet: Quiet, shelf: Shelf, built: Built, gradients: bool = False
    ) -> None:
        self.device = device
        self.root = root
        self.quiet = quiet
        self.shelf = shelf
        self.built = built
        self._referee = Referee(device, _text(root), tied=True, gradients=gradients)
        self._began = 0.0  # of the evaluation that runs; waiting for builds is not its time

    def start(self) -> Place:
        ready = self._referee.start()
        return ready.device, ready.environment

    def evaluate(self, pair: Pair, entered: Callable[[str], None]) -> Result:
        compiled = [name for name in pair.settings.baselines if name != EAGER]
        place = self.start()
        kept = [self.shelf.get(pair, name, place, lambda one: self._baseline(pair, one, entered)) for name in compiled]
        settings = structs.replace(pair.settings, baselines=(EAGER,))
        result = self._run(pair.solution, pair, settings, pair.solution_id, entered)
        held = time.monotonic() - self._began
        if result.solution.sha256 != pair.solution_sha256:
            raise UsageFault(f"{pair.solution} changed during the run", "run again: the new text is another solution")
        self.built.note(pair, place, result)
        for one in kept:
            result = against(result, one)
        return structs.replace(result, run=_run(pair, place, held, self.root), settings=pair.settings)

    def close(self) -> None:
        self._referee.close()

    def _baseline(self, pair: Pair, name: str, entered: Callable[[str], None]) -> Result:
        """The problem as its own solution, beside eager and its compiled form."""
        entered(name)
        budget = max(pair.settings.budget_s, COMPILED_BUDGET_S)
        settings = structs.replace(pair.settings, baselines=(EAGER, name), budget_s=budget, entry="Model", build="auto")
        result = self._run(pair.problem, pair, settings, pair.problem_id, entered)
        return structs.replace(result, run=_run(pair, self.start(), None, self.root))

    def _run(self, solution: str, pair: Pair, settings: Settings, name: str, entered: Callable[[str], None]) -> Result:
        quiet = self.quiet.timing() if self.device == "cpu" else contextlib.nullcontext()
        with quiet:
            self._began = time.monotonic()
            results = self._referee.evaluate(
                pair.problem, solution, (pair.workload,), settings, lambda stage: entered(stage.stage), named=name
            )
        if results[0].problem.sha256 != pair.problem_sha256:
            raise UsageFault(f"{pair.problem} changed during the run", "run again: the new text is another problem")
        return results[0]


class Ahead:
    """Builds what was not built before, on cores that timing does not need."""

    def __init__(
        self, root: Path | None, quiet: Quiet, cores: frozenset[int], built: Built, places: Mapping[Kind, Place]
    ) -> None:
        self.root = root
        self.quiet = quiet
        self.cores = cores
        self.built = built
        self.places = places  # by kind of device
        self._referee: Referee | None = None

    def build(self, pair: Pair) -> None:
        place = self.places[pair.device]
        if self.built.has(pair, place) or not self.built.may_build(pair):
            return
        capability = place[0].capability
        archs = toolchain.arch_list(capability) if capability else ""
        with self.quiet.building() if "cpu" in self.places else contextlib.nullcontext():
            self._referee = self._referee or Referee("cpu", _text(self.root), self.cores, tied=True)
            prepared = self._referee.build(pair.solution, archs, pair.settings, Path(pair.problem))
        self.built.note(pair, place, prepared)

    def close(self) -> None:
        if self._referee:
            self._referee.close()


def _run(pair: Pair, place: tuple[DeviceInfo, Environment], held_s: float | None, root: Path | None) -> Run:
    path = Path(pair.solution)
    short = path.relative_to(root) if root and path.is_relative_to(root) else path
    now = datetime.datetime.now(datetime.UTC)
    return Run(
        key=key(pair, *place),
        finished=now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        solution=str(short),
        set=pair.set,
        held_s=round(held_s, 4) if held_s is not None else None,
    )


def _text(root: Path | None) -> str | None:
    return str(root) if root else None
