"""What a configuration comes to: one pair for each problem, workload, solution and kind of device."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kbench import catalog, problem, solution
from kbench.errors import KbenchError, UsageFault
from kbench.options import nearest
from kbench.records import Record, Settings
from kbench.settings import EAGER, fields
from kbench.sweep.config import HERE, Config, Override, SolutionSet, Wanted
from kbench.sweep.document import Mistake
from kbench.sweep.pair import Kind, Pair


class Problem(Record, frozen=True):
    """A problem as far as it can be known without running it."""

    source: problem.Source
    outline: problem.Outline


class Plan(Record, frozen=True):
    pairs: tuple[Pair, ...]
    faults: tuple[tuple[str, KbenchError], ...] = ()  # problems and solutions that cannot be read
    strays: tuple[str, ...] = ()  # solutions whose problem is not known


class Planner:
    """Looks up what a configuration names, and gathers everything that it names in vain."""

    def __init__(self, config: Config, root: Path | None, kinds: Sequence[Kind]) -> None:
        self.config = config
        self.root = root
        self.kinds = kinds
        self.mistakes: list[Mistake] = []
        self.faults: list[tuple[str, KbenchError]] = []
        self.strays: list[str] = []

    def plan(self) -> Plan:
        problems: dict[str, Problem] = {}
        for one in self._problems():
            if one.source.id in problems:
                paths = f"{problems[one.source.id].source.path} and {one.source.path}"
                raise UsageFault(f"two problems are called {one.source.id!r}: {paths}", "rename one, or leave it out")
            problems[one.source.id] = one
        self._demand_workloads(problems.values())
        for override in self.config.overrides:
            if not any(_fits(name, override.problems.text) for name in problems):
                self._wrong(override.problems, f"no chosen problem matches {override.problems.text!r}", problems)
        self._demand_overridden(problems)
        pairs = [pair for found in self._solutions(problems) for pair in self._pairs(problems, *found)]
        pairs.sort(key=lambda pair: (pair.device, pair.problem_id, pair.workload, pair.set or "", pair.solution_id))
        return Plan(tuple(pairs), tuple(self.faults), tuple(self.strays))

    def _problems(self) -> Iterator[Problem]:
        chosen = list(self._chosen())
        tags = {tag for one in chosen for tag in one.outline.tags}
        for wanted in self.config.tags:
            if wanted.text not in tags:
                self._wrong(wanted, f"no problem has the tag {wanted.text!r}", tags)
        wanted_tags = {wanted.text for wanted in self.config.tags}
        for one in chosen:
            if not wanted_tags or wanted_tags & set(one.outline.tags):
                yield one

    def _chosen(self) -> Iterator[Problem]:
        known = self._known
        found: dict[Path, str] = {}
        for wanted in self.config.problems or (Wanted("*"),):
            fitting = {path: name for name, path in known.items() if _fits(name, wanted.text)}
            fitting |= {path: catalog.identity(path, "problems", self.root) for path in self._files(wanted.text)}
            if not fitting:
                self._wrong(wanted, f"no problem matches {wanted.text!r}", known)
            found |= fitting
        for path, name in sorted(found.items(), key=lambda item: item[1]):
            try:
                source = problem.read(path, name)
                yield Problem(source, problem.outline(source))
            except KbenchError as fault:
                self.faults.append((name, fault))

    @functools.cached_property
    def _known(self) -> dict[str, Path]:
        """All problems below the root by name, those that are not chosen too: their solutions are no strays."""
        listed = [path for path in catalog.entries("problems", self.root) if _is_text(str(path))]
        return {catalog.identity(path, "problems", self.root): path for path in listed}

    def _files(self, text: str) -> list[Path]:
        """Problems elsewhere: paths, relative to the configuration."""
        if not text.endswith(".py"):
            return []
        base = Path("/") if text.startswith("/") else Path(self.config.base)
        try:
            return [path.resolve() for path in sorted(base.glob(text.lstrip("/"))) if path.is_file()]
        except (ValueError, NotImplementedError):  # no pattern at all
            return []

    def _solutions(self, problems: dict[str, Problem]) -> Iterator[tuple[SolutionSet, str, str, Path]]:
        """The set, the problem's and the solution's name, and where it lies."""
        used: set[str] = set()
        for one in self.config.sets or (SolutionSet(None, HERE),):
            folder = self._folder(one)
            counts: dict[str, int] = {}
            for name, path in self._named(folder):
                of = catalog.problem_for(name, problems, self.root)
                if of is None:
                    if catalog.problem_for(name, self._known, self.root) is None:
                        self.strays.append(str(path))
                    continue
                fitting = [wanted.text for wanted in self.config.solutions if _fits(name, wanted.text)]
                used.update(fitting)
                most = one.samples or self.config.samples
                if (fitting or not self.config.solutions) and (most is None or counts.get(of, 0) < most):
                    counts[of] = counts.get(of, 0) + 1
                    yield one, of, name, path
            if not counts and one.spot:
                self.mistakes.append(Mistake(one.spot, f"set {one.name!r} has no solution of these problems: {folder}"))
        for wanted in self.config.solutions:
            if wanted.text not in used:
                self._wrong(wanted, f"no solution of these problems matches {wanted.text!r}", ())

    def _named(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """The solutions below a folder, each with a name of its own."""
        names: set[str] = set()
        for path in sorted(catalog.below(folder, "solutions"), key=lambda path: _natural(str(path))):
            name = _name_below(path, folder)
            if not _is_text(name):
                self.faults.append((ascii(name), UsageFault("its name is not UTF-8", "rename it")))
                continue
            # The same name with another suffix is another solution.
            name = name if name not in names else str(path.relative_to(folder))
            names.add(name)
            yield name, path

    def _folder(self, one: SolutionSet) -> Path:
        if one.name is None:
            return (self.root or Path(self.config.base)) / HERE
        try:
            return (Path(self.config.base) / Path(one.folder).expanduser()).resolve()
        except (ValueError, RuntimeError) as error:
            raise UsageFault(f"set {one.name!r} has no folder {one.folder!r}: {error}", "name a folder") from None

    def _pairs(self, problems: dict[str, Problem], one: SolutionSet, of: str, name: str, path: Path) -> Iterator[Pair]:
        chosen, settings = problems[of], self._settings(of)
        asked = tuple(wanted.text for wanted in settings.pop("workload", self.config.workloads))
        made = _as_settings(settings, chosen.outline.baselines)
        try:
            sha256 = solution.read(path, name, made.entry).sha256
        except KbenchError as fault:
            self.faults.append((name, fault))
            return
        for kind in self.kinds:
            for workload in self._workloads(chosen.outline.workloads, asked, kind, of):
                yield Pair(
                    problem=chosen.source.path,
                    problem_id=of,
                    problem_sha256=chosen.source.sha256,
                    solution=str(path),
                    solution_id=name,
                    solution_sha256=sha256,
                    set=one.name,
                    workload=workload,
                    device=kind,
                    settings=made,
                    grad=chosen.outline.grad,
                )

    def _workloads(self, known: tuple[str, ...], asked: tuple[str, ...], kind: Kind, of: str) -> list[str]:
        """Of several problems each runs those that it has."""
        having = tuple(name for name in asked if name == "all" or name in (known or ("default",)))
        return problem.choose_workloads(known, having, kind, of) if having or not asked else []

    def _demand_workloads(self, problems: Iterable[Problem]) -> None:
        known = {"all", "default", *(name for one in problems for name in one.outline.workloads)}
        for wanted in self.config.workloads:
            if wanted.text not in known:
                self._wrong(wanted, f"no chosen problem has a workload {wanted.text!r}", known)

    def _demand_overridden(self, problems: dict[str, Problem]) -> None:
        for override in self.config.overrides:
            fitting = [one for name, one in problems.items() if _fits(name, override.problems.text)]
            known = {"all", "default", *(name for one in fitting for name in one.outline.workloads)}
            for wanted in override.settings.get("workload", ()):
                if fitting and wanted.text not in known:
                    self._wrong(wanted, f"no problem of this override has a workload {wanted.text!r}", known)

    def _settings(self, of: str) -> dict[str, Any]:
        """The file's settings, then the overrides that fit, then what was given above all."""
        fitting: list[Override] = [one for one in self.config.overrides if _fits(of, one.problems.text)]
        merged = dict(self.config.settings)
        for override in fitting:
            merged |= override.settings
        return merged | self.config.given

    def _wrong(self, wanted: Wanted, text: str, known: Iterable[str]) -> None:
        shorts = {name.rsplit("/", 1)[-1] for name in known}
        hint = nearest(wanted.text, [*known, *shorts])
        if wanted.spot is None:
            raise UsageFault(text + hint, "see kbench list")
        self.mistakes.append(Mistake(wanted.spot, text + hint))


def _as_settings(named: dict[str, Any], of_problem: tuple[str, ...]) -> Settings:
    values = fields(named)
    baselines = values.pop("baselines", None) or of_problem
    return Settings(**values, baselines=tuple(dict.fromkeys((EAGER, *baselines))))


def _fits(name: str, pattern: str) -> bool:
    """`conv*`, `fusion/conv*` and `fusion/*` as one would mean them."""
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"*/{pattern}")


def _name_below(path: Path, folder: Path) -> str:
    relative = path.relative_to(folder)
    return str(relative) if path.is_dir() else str(relative.with_suffix(""))


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _natural(text: str) -> list[tuple[int, str]]:
    """sample_2 before sample_10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]
