"""Times sides against each other in alternating rounds and verifies every timed call."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch

from kbench import tree, units
from kbench.device.interface import Device
from kbench.device.telemetry import Probe
from kbench.errors import DoesNotFit, ProblemFault
from kbench.protocol import LEAD
from kbench.records import Mismatch, Telemetry
from kbench.referee import busy, check, inputs, numerics, ruling, structure
from kbench.referee.arena import Plan
from kbench.referee.busy import Looks, Watch
from kbench.referee.check import Case, Findings
from kbench.referee.inputs import Derivation
from kbench.referee.reference import same
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.side import Mode, Run, Side
from kbench.stats import StopRule, idle_round, median, undisturbed

MEMORY_SHARE = 0.4
FLUSH_SHARE = 0.3
ROUND_S = {"cpu": 0.01, "cuda": 0.008}
MAX_CALLS = {"cpu": 128, "cuda": 100}
LEAST_CALLS = {"cpu": 2, "cuda": 4}  # the reference may take long where the solution does not
SLOT_MEMORY = 2 * 2**30
# A round's cost beside its calls is known to some 30 us: fewer calls than these have more memory.
ENOUGH_CALLS, MOST_MEMORY = 8, 8 * 2**30
CPU_ROUND_BYTES = 16 * 2**20  # what is verified after a round stays near the caches
IDLE_BYTES = 1 << 28
# A round without work every so many pairs. An odd number: what was timed before it then is in turn another process and
# its own, after which on a GPU it takes some 60 us less, with the host's caches warm. Rounds that count meet both.
NULLS_EVERY = {"cuda": 3, "cpu": 1}
MOST_SINGLES = 8  # of a round's calls: each is filled, let go and waited for by itself
SINGLES_EVERY = 10
OVERHEAD_WEIGHT = {"cpu": 2.0, "cuda": 1.0}
# Rows are compared in groups: small ones together, so that few steps do; large ones while they are in the cache.
GROUP_BYTES = {"cpu": 2 * 2**20, "cuda": 256 * 2**20}
TIMED = "a timed call"


@dataclass(frozen=True)
class Size:
    """How many slots the arena has, and how many of them one round uses."""

    slots: int
    calls: int


@dataclass
class Rounds:
    """What one side did in the rounds that count."""

    walls_s: list[float] = field(default_factory=list)
    singles_s: list[float] = field(default_factory=list)
    claims_ms: list[tuple[float, ...]] = field(default_factory=list)


@dataclass
class Series:
    """One run of paired rounds in one set of workers."""

    sides: dict[str, Rounds]
    size: Size
    null_batch_s: float
    null_single_s: float
    flush_s: float  # how long one flush lasts
    looks: Looks
    stopped: str
    inputs: str
    spent_s: float
    telemetry: list[Telemetry]

    def batch_ms(self, name: str) -> list[float]:
        """Per round, the referee's clock less what a round without work costs, by the calls."""
        return [(wall - self.null_batch_s) / self.size.calls * 1e3 for wall in self.sides[name].walls_s]

    def singles_ms(self, name: str) -> list[float]:
        """The same of each call that was let go by itself; none on the CPU."""
        return [(wall - self.null_single_s) * 1e3 for wall in self.sides[name].singles_s]

    def claimed_ms(self, name: str) -> list[float]:
        return [median(claims) for claims in self.sides[name].claims_ms]


def size(device: Device, plan: Plan, sides: int, call_s: float) -> Size:
    """Slots within the memory that may be used, calls that make a round long enough."""
    slot = plan.input_bytes + plan.output_bytes
    free = device.free_bytes()
    most = int(MEMORY_SHARE * free // max(1, sides * slot))
    if most < 2:
        raise DoesNotFit(
            f"the reference is too large for this device: two slots for each of {sides} sides take "
            f"{units.size(2 * sides * slot)}, {units.size(MEMORY_SHARE * free)} may be used",
            "choose a smaller --workload, or a device with more memory",
        )
    kind = device.kind
    if plan.flush_bytes:
        most = min(most, max(2, int(FLUSH_SHARE * free // (sides * plan.flush_bytes)) - LEAD))
    calls = max(LEAST_CALLS[kind], math.ceil(ROUND_S[kind] / max(call_s, 1e-6)))
    rotation = 2 if plan.flush_bytes else math.ceil(2 * device.cache_bytes() / max(plan.input_bytes, 1))
    room = max(SLOT_MEMORY // max(1, slot), min(ENOUGH_CALLS, MOST_MEMORY // max(1, slot)))
    most = max(2, min(most, MAX_CALLS[kind], room))
    if kind == "cpu":
        calls = min(calls, CPU_ROUND_BYTES // max(1, slot))
    calls = max(2, min(calls, most))
    return Size(slots=max(calls, min(most, rotation)), calls=calls)


@dataclass(frozen=True)
class Done:
    """What one side handed in for a round: its outputs, row by row of the span."""

    side: Side
    run: Run
    taken: list[torch.Tensor]
    span: slice


Expected = tuple[object, list[torch.Tensor]]  # the reference's value and its inputs after the call


class Contest:
    """The sides of one series, the contents they are fed and the expectations they are held to."""

    def __init__(
        self,
        case: Case,
        findings: Findings,
        base: list[torch.Tensor],
        skeleton: tree.Skeleton,
        size: Size,
        plan: Plan,
        watch: Watch,
    ) -> None:
        self.case = case
        self.findings = findings
        self.base = base
        self.skeleton = skeleton  # of the inputs, gradients of outputs included
        self.size = size
        self.watch = watch
        self.device = case.reference.device
        self.group = max(1, GROUP_BYTES[self.device.kind] // max(1, plan.output_bytes))
        self.usual = tree.without(plan.outputs, "state")  # what a worker need not describe
        self.plain = any(isinstance(leaf, tree.Plain) for leaf in tree.leaves(self.usual))
        self.how = choose_derivation(case, base, skeleton)
        self._idle: list[torch.Tensor] | None = None

    def contents(self, seed: int) -> tuple[list[torch.Tensor], torch.Generator]:
        """New contents for one round."""
        generator = torch.Generator(self.device.torch_device).manual_seed(seed)
        if self.how == "redrawn":
            return self._redrawn(seed), generator
        return inputs.derive(self.base, self.size.calls, self.how, generator), generator

    def idle(self, seed: int) -> tuple[list[torch.Tensor], torch.Generator]:
        """Contents for rounds that nobody works on: the same again where they are small."""
        if self._idle is None:
            stacks, generator = self.contents(seed)
            small = sum(stack.numel() * stack.element_size() for stack in stacks) <= IDLE_BYTES
            self._idle = stacks if small else None
            return stacks, generator
        return self._idle, torch.Generator(self.device.torch_device).manual_seed(seed)

    def _redrawn(self, seed: int) -> list[torch.Tensor]:
        drawn = [tree.tensors(self.case.reference.draw(seed + number)) for number in range(self.size.calls)]
        upstream = self.case.upstream or []
        return [torch.stack(parts) for parts in zip(*[[*parts, *upstream] for parts in drawn], strict=True)]

    def verify(self, stacks: list[torch.Tensor], done: list[Done]) -> None:
        """Every output of the round against the reference on the same contents; inputs unchanged."""
        for one in done:
            if not one.run.untouched(one.taken):
                raise one.side.blamed(_late_outputs())
        varying = self.plain or any(one.run.finished.odd for one in done)
        count = done[0].span.stop - done[0].span.start
        for first in range(0, count, self.group):
            rows = range(first, min(first + self.group, count))
            expected = [self._reference(stacks, row) for row in rows]
            for one in done:
                try:
                    if varying or not _alike([value for value, _ in expected]):
                        self._verify_varying(one, expected, rows, stacks)
                    else:
                        self._verify_alike(one, expected, rows, stacks)
                    self._verify_inputs(one, expected, rows, stacks)
                except Stopped as stop:
                    raise one.side.blamed(stop) from None

    def _reference(self, stacks: list[torch.Tensor], row: int) -> tuple[object, list[torch.Tensor]]:
        outcome = self.case.reference.run(self.case.model, *self._call(stacks, row), wait=False)
        return self.case.expected(outcome, with_state=False), outcome.inputs

    def _call(self, stacks: list[torch.Tensor], row: int) -> tuple[object, list[torch.Tensor] | None]:
        """Arguments and gradients of outputs of one call."""
        return _split(self.case, self.skeleton, stacks, row)

    def _bounds(self) -> list[numerics.Tolerance]:
        pairs = zip(self.findings.bounds, self.findings.own_error, strict=True)
        return [numerics.widened(bound, own) for bound, own in pairs]

    def _verify_alike(self, one: Done, expected: list[Expected], rows: range, stacks: list[torch.Tensor]) -> None:
        if self.case.reference.settings.check is not None:
            for row in rows:
                self._judge_custom(one, self._call(stacks, row)[0], row)
            return
        leaves = [tree.tensors(value) for value, _ in expected]
        names = check.output_names(tree.describe(expected[0][0]))
        for number, (name, bound) in enumerate(zip(names, self._bounds(), strict=False)):
            right = torch.stack([row[number] for row in leaves]) if len(rows) > 1 else leaves[0][number].unsqueeze(0)
            out = one.taken[number][rows.start : rows.stop]
            for row, good in enumerate(numerics.rows_within(out, right, bound)):
                if not good:
                    self._demand_jumps(number, stacks, rows[row], out[row], right[row], bound, name)

    def _judge_custom(self, one: Done, given: object, row: int) -> None:
        assert one.side.arena is not None
        outputs = one.side.arena.plan.outputs
        assert isinstance(outputs, tree.Nest)
        output = tree.rebuild(outputs.children[0], iter([stack[row] for stack in one.taken]))
        check.judge_custom(self.case, given, output, TIMED)

    def _verify_varying(self, one: Done, expected: list[Expected], rows: range, stacks: list[torch.Tensor]) -> None:
        """Calls whose outputs differ in shape, one by one."""
        for row, (value, _) in zip(rows, expected, strict=True):
            wanted, truth = tree.describe(value), tree.tensors(value)
            got = one.run.finished.odd.get(str(one.span.start + row), self.usual)
            off = structure.difference(wanted, got, "result")
            if off:
                raise _wrong(Mismatch(output="structure", trial=TIMED, summary=off))
            if self.case.reference.settings.check is not None:
                self._judge_custom(one, self._call(stacks, row)[0], row)
                continue
            outs = check.fitted([stack[row] for stack in one.taken[: len(truth)]], truth)
            parts = zip(check.output_names(wanted), outs, truth, self._bounds(), strict=False)
            for number, (name, out, right, bound) in enumerate(parts):
                if not numerics.within(out, right, bound):
                    self._demand_jumps(number, stacks, row, out, right, bound, name)

    def _demand_jumps(
        self,
        number: int,
        stacks: list[torch.Tensor],
        row: int,
        out: torch.Tensor,
        right: torch.Tensor,
        bound: numerics.Tolerance,
        name: str,
    ) -> None:
        """What is off must be where the reference jumps."""
        given, upstream = self._call(stacks, row)
        if self.case.settled(number, given, upstream, out, right, bound) is None:
            raise _wrong(numerics.explain(out, right, bound, name, TIMED))

    def _verify_inputs(self, one: Done, expected: list[Expected], rows: range, stacks: list[torch.Tensor]) -> None:
        assert one.side.arena is not None
        here = slice(one.span.start + rows.start, one.span.start + rows.stop)
        for number, (view, stack) in enumerate(zip(one.side.arena.inputs, stacks, strict=True)):
            old = stack[rows.start : rows.stop]
            after = [inputs_after[number] for _, inputs_after in expected if number < len(inputs_after)]
            changed = bool(after) and not same(after[0], old[0])
            off = check.changed_input(
                self.case, f"inputs[{number}]", view[here], old, torch.stack(after) if changed else old
            )
            if off:
                raise _wrong(Mismatch(output=f"inputs[{number}]", trial=TIMED, summary=off))


def _split(
    case: Case, skeleton: tree.Skeleton, stacks: list[torch.Tensor], row: int
) -> tuple[object, list[torch.Tensor] | None]:
    value = tree.rebuild(skeleton, iter([stack[row] for stack in stacks]))
    return (value[0], value[1]) if case.upstream is not None else (value, None)


def choose_derivation(case: Case, base: list[torch.Tensor], skeleton: tree.Skeleton) -> Derivation:
    """The freshest contents that the reference takes; drawing anew each time where it takes none."""
    device = case.reference.device.torch_device
    for how in ("fresh", "scaled"):
        generator = torch.Generator(device).manual_seed(1)
        stacks = inputs.derive(base, 1, how, generator)
        try:
            outcome = case.reference.run(case.model, *_split(case, skeleton, stacks, 0))
        except ProblemFault:
            continue
        leaves = tree.tensors(case.expected(outcome, with_state=False))
        if all(bool(leaf.isfinite().all()) for leaf in leaves if numerics.is_inexact(leaf)):
            return how
    return "redrawn"


def run_series(
    sides: list[Side],
    contest: Contest,
    rule: StopRule,
    next_seed: Callable[[], int],
    probe: Probe,
    in_time: Callable[[], None],
) -> Series:
    """Rounds of all sides in turn, the order reversed every time, until the rule says stop.

    `sides` begins with the solution; the last one, a baseline, also runs the rounds without work. Raises Busy where
    something else works on the GPU in between: then no time means anything.
    """
    rounds = {side.name: Rounds() for side in sides}
    series = Series(rounds, contest.size, 0.0, 0.0, 0.0, {}, "", contest.how, 0.0, [])
    _round(sides, contest, next_seed(), 1, series.looks)  # warm, and verified like the others
    nulls: tuple[list[float], list[float]] = ([], [])  # where another process worked before it, and where its own did
    null_singles: list[float] = []
    began = time.monotonic()
    pair, kind = 0, contest.device.kind
    while not series.stopped:
        in_time()
        if pair % NULLS_EVERY[kind] == 0:
            nulls[pair % 2].extend(_null(sides, contest, next_seed(), series.looks))
        if pair % SINGLES_EVERY == 0:
            null_singles += _single(sides, contest, next_seed(), series)
        runs = _round(sides, contest, next_seed(), pair, series.looks)
        for name, run in runs.items():
            series.sides[name].walls_s.append(run.walls_s[0])
            series.sides[name].claims_ms.append(run.finished.claims_ms)
            series.spent_s += run.walls_s[0]
        busy.demand_calm(series.looks.values())
        sample = probe.sample()
        series.telemetry += [sample] if sample else []
        series.null_batch_s = idle_round(kind, *nulls)
        series.null_single_s = undisturbed(null_singles) if null_singles else 0.0
        pair += 1
        # Filling and verifying take time beside the timed work: that too is bounded by the budget.
        beside = (time.monotonic() - began - series.spent_s) * OVERHEAD_WEIGHT[kind]
        calls = min(side.calls for side in sides)
        own = _figures(series, sides[0])
        series.stopped = rule.verdict(_ratios(series, sides), max(series.spent_s, beside), calls, own) or ""
    series.flush_s = contest.watch.calm_s
    return series


def _ratios(series: Series, sides: list[Side]) -> list[float]:
    """Paired ratios of the first baseline and the solution, for the stop rule."""
    before, after = _figures(series, sides[1]), _figures(series, sides[0])
    return [left / right if right > 0 else math.inf for left, right in zip(before, after, strict=True)]


def _figures(series: Series, side: Side) -> list[float]:
    """A side's times for the stop rule, one a round."""
    return series.claimed_ms(side.name) if side.device.kind == "cuda" else series.batch_ms(side.name)


def _round(
    sides: list[Side], contest: Contest, seed: int, pair: int, looks: Looks, mode: Mode = "batch"
) -> dict[str, Run]:
    """One round of each side on the same contents, every call of it verified."""
    stacks, generator = contest.contents(seed)
    span = _span(contest.size, pair)
    if mode == "single":
        span = slice(span.start, span.start + min(MOST_SINGLES, contest.size.calls))
    done = []
    for side in sides if pair % 2 == 0 else reversed(sides):
        with _alone(side, sides), _watched(side, contest, looks, side.name):
            run = side.round(mode, stacks, span, seed % 2**31, generator)
            done.append(_taken(side, run, span))
        if not run.flushed:
            raise side.blamed(_no_flush())
    contest.verify(stacks, sorted(done, key=lambda one: one.side.is_solution))
    return {one.side.name: one.run for one in done}


@contextlib.contextmanager
def _alone(side: Side, sides: list[Side]) -> Iterator[None]:
    """While one side is timed the others' processes are stopped: they cannot slow it down."""
    others = [other for other in sides if other is not side]
    for other in others:
        other.handle.freeze()
    try:
        yield
    finally:
        for other in others:
            other.handle.thaw()


def _taken(side: Side, run: Run, span: slice) -> Done:
    assert side.arena is not None
    # A baseline runs the problem's own file: on CUDA, where memory counts, what it left is read in place.
    in_place = not side.is_solution and side.device.kind == "cuda"
    taken = [view[span] for view in side.arena.outputs] if in_place else side.arena.take(span)
    return Done(side, run, taken, span)


@contextlib.contextmanager
def _watched(side: Side, contest: Contest, looks: Looks, kind: str) -> Iterator[None]:
    """A baseline's round on a GPU: whether the solution, which stands still, left something at work there."""
    assert side.arena is not None
    if side.is_solution or not side.arena.plan.flush_bytes:
        yield
        return
    before = contest.watch.sees_work(side.arena.flush_once)
    yield
    looks.setdefault(kind, []).append(contest.watch.sees_work(side.arena.flush_once) or before)


def _null(sides: list[Side], contest: Contest, seed: int, looks: Looks, mode: Mode = "null-batch") -> tuple[float, ...]:
    """What a round costs without the work: filling, flush, copies, going and coming back."""
    stacks, generator = contest.idle(seed)
    span = _span(contest.size, 0)
    if mode == "null-single":
        span = slice(span.start, span.start + min(MOST_SINGLES, contest.size.calls))
    while True:
        with _alone(sides[-1], sides), _watched(sides[-1], contest, looks, mode):
            run = sides[-1].round(mode, stacks, span, seed % 2**31, generator)
        if not any(looks.get(mode, [])[-1:]):
            return run.walls_s
        busy.demand_calm([looks[mode]])


def _single(sides: list[Side], contest: Contest, seed: int, series: Series) -> tuple[float, ...]:
    """Single calls, on CUDA only: a second figure that no trick with a batch can reach."""
    if sides[0].device.kind != "cuda":
        return ()
    for name, run in _round(sides, contest, seed, 0, series.looks, "single").items():
        series.sides[name].singles_s += run.walls_s
    return _null(sides, contest, seed, series.looks, "null-single")


def _span(size: Size, pair: int) -> slice:
    """Rounds go around the slots, so that on the CPU they never meet a warm cache."""
    start = pair % (size.slots // size.calls) * size.calls
    return slice(start, start + size.calls)


def _late_outputs() -> Stopped:
    summary = "its outputs changed after it said that it was done: it answers before the work is finished"
    return _wrong(Mismatch(output="output", trial=TIMED, summary=summary))


def _wrong(mismatch: Mismatch) -> Stopped:
    return Stopped(ruling.of_mismatch(mismatch))


def _alike(values: list[object]) -> bool:
    first = tree.describe(values[0])
    return all(tree.describe(value) == first for value in values[1:])


def _no_flush() -> Stopped:
    return Stopped(Ruling("cheated", "it did not evict the cache before each timed call, as the protocol asks"))
