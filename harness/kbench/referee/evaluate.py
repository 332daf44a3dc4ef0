"""One evaluation, told in order: load, construct, check, time, rule. Everything that decides lies elsewhere."""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kbench import settings as kbench_settings
from kbench import solution as kbench_solution
from kbench import tree
from kbench.device.interface import Device
from kbench.device.lease import Lease
from kbench.errors import DoesNotFit, MachineFault, ProblemFault
from kbench.problem import ProblemSettings, Source
from kbench.protocol import Constructed, Load
from kbench.records import Result
from kbench.referee import check, numerics, timing, weights
from kbench.referee.arena import Plan
from kbench.referee.builds import Builds
from kbench.referee.check import Case, Findings
from kbench.referee.events import Entered
from kbench.referee.outcome import Draft
from kbench.referee.reference import Reference, randomise_constants
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.seeds import Seeds
from kbench.referee.side import SOLUTION, Side
from kbench.referee.staff import Staff
from kbench.settings import COMPILED, Settings
from kbench.stats import FEWEST_PAIRS, TARGET, StopRule

Tell = Callable[[Entered], None]
COMPILE_S = 900.0


class Evaluation:
    """One problem, one workload, one solution."""

    def __init__(
        self,
        staff: Staff,
        builds: Builds,
        lease: Lease,
        source: Source,
        of_problem: ProblemSettings,
        workload: str,
        candidate: kbench_solution.Source,
        asked: Settings,
        tell: Tell,
    ) -> None:
        self.staff = staff
        self.device: Device = staff.device
        self.builds = builds
        self.lease = lease
        self.source = source
        self.of_problem = of_problem
        self.workload = workload
        self.candidate = candidate
        self.asked = asked
        self.tell = tell
        self.seeds = Seeds(asked.seed)
        self.seconds = kbench_settings.deadlines(asked, self.device.kind, of_problem.timeout)
        self.draft = Draft(self.device, staff, source, workload, candidate, self.seeds, builds, asked)
        self.draft.custom_kernel = of_problem.custom_kernel
        self.sides: list[Side] = []
        self.deadline = time.monotonic() + self.seconds["total"]

    def run(self) -> Result:
        """The result, whatever the solution does. Faults of problem or machine are raised."""
        began = time.monotonic()
        try:
            if self.candidate.text is None:
                raise Stopped(Ruling("load_failed", self.candidate.fault or "it cannot be read"))
            self._evaluate()
            ruling = self.draft.passed()
        except Stopped as stop:
            ruling = stop.ruling
        finally:
            self._end()
        self.draft.seconds["total"] = time.monotonic() - began
        return self.draft.result(ruling)

    def _evaluate(self) -> None:
        with self._problem_code():
            reference = Reference(self.source, self.of_problem, self.workload, self.device)
            arguments = reference.arguments()
        for process in range(self.asked.processes):
            with self._leased(early=True):
                self._load()
                with self._leased(early=False):
                    self._check_and_time(reference, arguments, process)
            self._end()

    def _check_and_time(self, reference: Reference, arguments: list[Any], process: int) -> None:
        with self._stage("check"):
            # The second instance has other weights: what was kept from the first one is wrong now. It is
            # also the one that is timed.
            for number in ("first", "second"):
                case, findings, given, skeleton = self._instance(reference, arguments, f"{number}-{process}")
                self.draft.instances += 1
        self.staff.settle()
        with self._stage("time"):
            self._time(case, findings, given, skeleton)

    def _load(self) -> None:
        with self._stage("load"):
            candidate = Side(SOLUTION, self.staff.hire(), self.device, self.seconds)
            self.sides = [candidate]
            names = self.asked.baselines or self.of_problem.baselines or ("eager",)
            self.sides += [Side(name, self.staff.hire(), self.device, self._patience(name)) for name in names]
            self.staff.restock()
            handle = candidate.handle
            handle.builds = lambda ask: self.builds.build(ask, handle, self.seconds["build"])
            path = self._placed(candidate)
            loaded = candidate.load(self._order(path, entry=self.asked.entry))
            self.draft.changed = loaded.changed
            for side in self.sides[1:]:
                self._load_baseline(side)

    def _patience(self, name: str) -> dict[str, float]:
        """Compiling a baseline takes what it takes: it is no fault of the solution."""
        return {**self.seconds, "first-call": COMPILE_S} if name in COMPILED else self.seconds

    def _placed(self, side: Side) -> str:
        try:
            return side.handle.place(self.candidate.path, self.candidate.text, self.candidate.folder)
        except OSError as error:
            raise MachineFault(f"no room for a worker's scratch: {error}", "free some memory or disk") from None

    def _load_baseline(self, side: Side) -> None:
        try:
            path = side.handle.place(self.source.path, self.source.text, None)
            overrides = pickle.dumps(dict(self.of_problem.workloads.get(self.workload, {})))
            compiled = side.name if side.name in COMPILED else None
            side.load(self._order(path, reference=True, compiled=compiled, overrides=overrides))
        except Stopped as stop:
            raise ProblemFault(f"{self.source.path}: {stop.ruling.reason} in a worker", "mend the problem") from None

    def _order(self, path: str, **options: Any) -> Load:
        info = self.device.info()
        options = {"entry": None, **options}
        threads, grad = info.threads or 1, self.of_problem.grad
        return Load(path=path, device=self.device.kind, threads=threads, grad=grad, **options)

    def _instance(
        self, reference: Reference, arguments: list[Any], name: str
    ) -> tuple[Case, Findings, list[torch.Tensor], tree.Skeleton]:
        """Models with new weights on all sides, then the trials of this instance."""
        first = name.startswith("first")
        seed = self.seeds.for_use("weights", name)
        with self._problem_code():
            model = reference.construct(arguments, seed)
        case, constructed = self._construct(reference, model, arguments, name, seed)
        with self._problem_code():
            given = reference.draw(self.seeds.for_use("inputs", name, 0))
            self._complete(case, given, constructed)
            trial = check.prepare(case, given, f"trial 1 of the {name.split('-')[0]} instance")
            check.demand_sound(case, trial)
        tensors = [*tree.tensors(given), *(case.upstream or ())]
        skeleton = tree.describe([given, case.upstream] if case.upstream is not None else given, strides=True)
        if self.sides[0].arena is None:
            self._open(case, trial, skeleton, given)
        findings = self.draft.findings
        check.run(self.sides[0], case, trial, 0, self._word(), findings)
        for side in self.sides[1:]:
            self._check_baseline(side, case, trial)
        outputs = trial.skeleton
        del trial  # a truth in float64 may be most of the memory there is
        for number in range(1, self.asked.trials if first else 1):
            self._trial(case, reference, number, name)
        if first:
            self._transforms(case, given, outputs, findings)
        return case, findings, tensors, skeleton

    def _trial(self, case: Case, reference: Reference, number: int, name: str) -> None:
        self._in_time()
        with self._problem_code():
            given = reference.draw(self.seeds.for_use("inputs", name, number))
            self._same_shapes(case, given)
            trial = check.prepare(case, given, f"trial {number + 1} of the first instance")
        check.run(self.sides[0], case, trial, number % 2, self._word(), self.draft.findings)

    def _same_shapes(self, case: Case, given: Any) -> None:
        arena = self.sides[0].arena
        assert arena is not None
        wanted = [view.shape[1:] for view in arena.inputs][: len(tree.tensors(given))]
        if [tensor.shape for tensor in tree.tensors(given)] != wanted:
            raise ProblemFault(
                f"{self.source.path}: get_inputs() returns other shapes from call to call",
                "one workload is one setting of shapes; make several workloads",
            )

    def _transforms(self, case: Case, given: Any, skeleton: tree.Skeleton, findings: Findings) -> None:
        for name in self.of_problem.transforms:
            self._in_time()
            with self._problem_code():
                trial = check.transform(case, given, name)
            if trial is None or trial.skeleton != skeleton:
                findings.dropped.append(name)
                continue
            check.run(self.sides[0], case, trial, 1, self._word(), findings)
            findings.transforms.append(name)

    def _check_baseline(self, side: Side, case: Case, trial: check.Trial) -> None:
        began = time.monotonic()
        try:
            check.run(side, case, trial, 0, self._word(), Findings())
        except Stopped as stop:
            raise side.blamed(stop) from None
        self.deadline += time.monotonic() - began

    def _construct(
        self, reference: Reference, model: torch.nn.Module, arguments: list[Any], name: str, seed: int
    ) -> tuple[Case, Constructed]:
        try:
            pickled = pickle.dumps(arguments)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ProblemFault(
                f"{self.source.path}: get_init_inputs() cannot be sent to a worker: {error}",
                "return numbers, strings, tensors and nests of them",
            ) from None
        constructed = self.sides[0].construct(seed, pickled)
        self.draft.changed = tuple(dict.fromkeys((*self.draft.changed, *constructed.changed)))
        loaded = weights.agree(model, constructed)
        self.draft.weights = "loaded" if loaded else "seeded"
        buffers = weights.shared_buffers(model, constructed) if loaded else []
        if loaded:
            generator = torch.Generator().manual_seed(self.seeds.for_use("constants", name))
            randomise_constants(model, generator)
            weights.hand_over(model, buffers, self.sides[0])
        for side in self.sides[1:]:
            self._construct_baseline(side, model, seed, pickled)
        case = Case(reference, model, (), tuple(buffers), None, self._asked_tolerance)
        case.full_precision = self.of_problem.precision == "full"
        return case, constructed

    def _construct_baseline(self, side: Side, model: torch.nn.Module, seed: int, pickled: bytes) -> None:
        try:
            own = side.construct(seed, pickled)
            if weights.agree(model, own):
                weights.hand_over(model, weights.shared_buffers(model, own), side)
        except Stopped as stop:
            raise side.blamed(stop) from None

    def _complete(self, case: Case, given: Any, constructed: Constructed) -> None:
        """What counts as output beside the returned value: changed buffers, and gradients."""
        outcome = case.reference.run(case.model, given, None)
        case.state = tuple(name for name in outcome.changed if name in case.state)
        if not self.of_problem.grad:
            return
        generator = torch.Generator(self.device.torch_device).manual_seed(self.seeds.for_use("upstream"))
        case.upstream = [
            torch.randn(head.shape, generator=generator, device=head.device, dtype=torch.float32).to(head.dtype)
            for head in tree.tensors(outcome.output)
            if head.is_floating_point()
        ]
        found = case.reference.run(case.model, given, case.upstream).gradients
        shared = set(constructed.parameters) if self.draft.weights == "loaded" else set()
        parameters = {name for name, _ in case.model.named_parameters()}
        case.gradients = tuple(
            name for name, grad in found.items() if grad is not None and (name not in parameters or name in shared)
        )

    def _open(self, case: Case, trial: check.Trial, skeleton: tree.Skeleton, given: Any) -> None:
        with self._problem_code():
            call_s = case.reference.seconds_per_call(case.model, given, case.upstream)
            outputs = self._roomy(case, trial)
        plan = Plan(skeleton, outputs, case.gradients, self.device.flush_bytes())
        self.draft.size = timing.size(self.device, plan, len(self.sides), call_s)
        for side in self.sides:
            try:
                side.open(plan, self.draft.size.slots)
            except (MemoryError, torch.OutOfMemoryError) as error:
                raise DoesNotFit(f"no memory for the arena: {error}", "choose a smaller --workload") from None

    def _roomy(self, case: Case, trial: check.Trial) -> tree.Skeleton:
        """Room for outputs whose length depends on the contents of the inputs."""
        seen = [trial.skeleton]
        for number in range(2):
            other = case.reference.draw(self.seeds.for_use("shape", number))
            seen.append(tree.describe(case.expected(case.reference.run(case.model, other, case.upstream))))
        return trial.skeleton if all(one == seen[0] for one in seen) else tree.roomier(seen)

    def _time(self, case: Case, findings: Findings, base: list[torch.Tensor], skeleton: tree.Skeleton) -> None:
        arena = self.sides[0].arena
        assert arena is not None
        contest = timing.Contest(case, findings, base, skeleton, self.draft.size, arena.plan)
        rule = StopRule(self.asked.budget_s, TARGET[self.device.kind], fewest_pairs=FEWEST_PAIRS[self.device.kind])
        probe = self.device.probe()
        for _ in range(2):
            self._in_time()
            series = timing.run_series(self.sides, contest, rule, self.seeds.next_round, probe, self._in_time)
            # One contradiction may be the machine's; only a second series makes it the solution's.
            if not self.draft.contradicted(series):
                break
        self.draft.timed(series, probe)

    def _asked_tolerance(self, dtype: torch.dtype) -> numerics.Tolerance:
        of, user = self.of_problem, self.asked
        atol = user.atol if user.atol is not None else of.atol
        rtol = user.rtol if user.rtol is not None else of.rtol
        return numerics.tolerance(dtype, atol, rtol, of.norm_tol)

    def _word(self) -> int:
        return self.seeds.next_round() % 2**31

    def _in_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise Stopped(Ruling("timed_out", f"the evaluation took longer than {self.seconds['total']:g} s"))

    @contextlib.contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        self.tell(Entered(stage=name))
        began = time.monotonic()
        try:
            yield
        finally:
            self.draft.seconds[name] = self.draft.seconds.get(name, 0.0) + time.monotonic() - began

    @contextlib.contextmanager
    def _problem_code(self) -> Iterator[None]:
        """The problem's own code may hang or end this process: whoever watches it must know."""
        self.tell(
            Entered(
                stage="problem",
                detail="while the reference runs",
                limit_s=self.seconds["load"] + self.seconds["first-call"],
            )
        )
        yield
        self.tell(Entered(stage="check"))

    @contextlib.contextmanager
    def _leased(self, early: bool) -> Iterator[None]:
        """On the CPU builds disturb the timing of others, so the lease comes before loading."""
        if early != (self.device.kind == "cpu"):
            yield
            return
        waited = self.lease.acquire(lambda pid: self.tell(Entered(stage="lease", detail=str(pid or "another user's"))))
        self.deadline += waited
        try:
            yield
        finally:
            self.lease.release()

    def _end(self) -> None:
        for side in self.sides:
            if side.is_solution:
                self.draft.calls = side.calls
                self.draft.log = side.handle.log() or self.draft.log
                if self.asked.keep:
                    side.handle.keep(self.asked.keep)
            side.close()
        self.sides = []
