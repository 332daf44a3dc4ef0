"""One side of a comparison, the solution's or a baseline's: a worker, its arena and its gate."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch

from kbench.device.gate import Gate
from kbench.device.interface import Device
from kbench.protocol import (
    Armed,
    Call,
    Construct,
    Constructed,
    Done,
    Finished,
    Forget,
    Forgotten,
    Load,
    Loaded,
    Returned,
    Round,
    TakeWeights,
    Trace,
    Traced,
)
from kbench.referee import ruling
from kbench.referee.arena import Arena, Layout, probed
from kbench.referee.handle import Handle
from kbench.referee.ruling import Stopped
from kbench.referee.size import Size

SOLUTION = "solution"
POISON = 0x2A2A2A2A  # so that the poison is never the word that a flush writes
LONGEST_CLAIM_MS = 1e7
MOST_BROKEN = 2  # of the times that it was stopped, more than ten in the shortest series
MOST_KEPT = 256 * 2**20  # by a worker that goes on to another problem
Mode = Literal["batch", "single", "null-batch", "null-single"]


@dataclass(frozen=True)
class Run:
    """One round as the referee saw it."""

    walls_s: tuple[float, ...]  # one for a batch, one a call for singles
    finished: Finished
    places: list[torch.Tensor]  # of each output, a few
    seen: list[torch.Tensor]  # what stood there at "done"
    flushed: bool

    def untouched(self, taken: list[torch.Tensor]) -> bool:
        """Whether the outputs read later are those that were there at "done"."""
        return all(
            bool(((now == seen) | ((now != now) & (seen != seen))).all())
            for now, seen in zip(map(probed, taken, self.places), self.seen, strict=True)
        )


def patience(allowed_s: float, call_s: float, count: int, total_s: float) -> float:
    """How long calls in a row may take: twice what a checked one took each, and once what one may take."""
    return min(allowed_s + 2 * count * call_s, total_s)


class Side:
    def __init__(self, name: str, handle: Handle, device: Device, seconds: dict[str, float]) -> None:
        self.name = name
        self.is_solution = name == SOLUTION
        self.handle = handle
        self.device = device
        self.seconds = seconds
        self.arena: Arena | None = None
        self.gate: Gate | None = None
        self.calls = 0
        self.call_s = 0.0  # of the last checked one

    def blamed(self, stop: Stopped) -> Stopped:
        """What a baseline does wrong is no fault of the solution: then nothing can be judged."""
        if self.is_solution:
            return stop
        reason = f"the {self.name} baseline fails: {stop.ruling.reason}"
        return Stopped(ruling.Ruling("unsupported", reason, stop.ruling.traceback))

    @contextlib.contextmanager
    def blaming(self) -> Iterator[None]:
        """What ends in here is this side's doing."""
        try:
            yield
        except Stopped as stop:
            raise self.blamed(stop) from None

    def load(self, order: Load) -> Loaded:
        return self.handle.ask(order, Loaded, self.seconds["load"])

    def begin(self, seed: int, arguments: bytes) -> None:
        """Has the model constructed, which may take a while: `constructed` waits for it."""
        self.handle.stage = "load"
        self.handle.send(Construct(seed=seed, arguments=arguments))

    def constructed(self) -> Constructed:
        made = self.handle.expect(Constructed, self.seconds["load"])
        if made.specs and len(made.specs) != len(made.parameters) + len(made.buffers):
            raise Stopped(ruling.of_protocol("weights without shapes"))
        return made

    def take_weights(self, order: TakeWeights, fd: int) -> None:
        self.handle.ask(order, Done, self.seconds["load"], (fd,))

    def offer(self, layout: Layout, size: Size) -> None:
        """Allocates the arena and hands it over; `opened` waits until the worker has it."""
        self.arena = Arena(self.device, layout, size.slots, size.lead)
        self.gate = self.device.new_gate()
        order, fds = self.arena.message()
        with self.blaming():
            self.handle.send(order, (*fds, *self.gate.fds()))

    def opened(self) -> None:
        assert self.arena
        with self.blaming():
            self.handle.expect(Done, self.seconds["load"])
        self.arena.touch()

    def call(self, slot: int, state: tuple[str, ...]) -> Returned:
        """One checked call."""
        stage = "first-call" if self.calls == 0 else "call"
        self.handle.stage = stage
        self.device.hand_back()
        self.device.rest()
        began = time.monotonic()
        returned = self.handle.ask(Call(slot=slot, state=state), Returned, self.seconds[stage])
        self.call_s = time.monotonic() - began
        self.calls += 1
        return returned

    def trace(self, slot: int, passes: int) -> Traced:
        """Untimed calls that say what runs in them: the worker's word. Being watched they may take longer."""
        self.handle.stage = "call"
        return self.handle.ask(Trace(slot=slot, passes=passes), Traced, self.seconds["first-call"])

    def is_idle(self) -> bool:
        """Alive, and with no answer left that nobody took."""
        return self.handle.is_up() and self.handle.alive()

    def round(self, mode: Mode, stacks: list[torch.Tensor], span: slice, word: int, generator: torch.Generator) -> Run:
        """Timed calls on the slots of `span`, whose contents come when the clock already runs."""
        with self.blaming():
            return self._round(mode, stacks, span, word, generator)

    def _round(self, mode: Mode, stacks: list[torch.Tensor], span: slice, word: int, generator: torch.Generator) -> Run:
        assert self.arena and self.gate
        slots = tuple(range(span.start, span.stop))
        self.handle.stage = "call"
        places = self.arena.new_probes(len(slots), generator)
        self.device.hand_back()
        self.handle.ask(Round(slots=slots, mode=mode), Armed, self.seconds["call"])
        if mode.endswith("single"):
            self.arena.poison(span, word ^ POISON)
            walls = self._singles(stacks, span)
        else:
            walls = (self._batch(stacks, span, word, idle=mode.startswith("null")),)
        seen = self.arena.probe_outputs(places, span)
        flushed = not mode.endswith("batch") or self.arena.flushed(span, word, generator)
        finished = self.handle.expect(Finished, self.seconds["call"])
        self.calls += 0 if mode.startswith("null") else len(slots)
        self._demand_claims(finished, len(slots) if mode == "batch" and self.device.kind == "cuda" else 0)
        return Run(walls, finished, places, seen, flushed)

    def vacate(self) -> None:
        """The problem is over for this worker; `vacated` waits until it has let go."""
        with contextlib.suppress(Stopped):  # `vacated` finds out
            self.handle.send(Forget())

    def vacated(self) -> bool:
        """Whether the worker can serve another problem as a fresh one would."""
        try:
            left = self.handle.expect(Forgotten, self.seconds["load"])
        except Stopped:
            return False
        self.free()
        return left.left_bytes <= MOST_KEPT and not left.changed

    def freeze(self) -> None:
        """Stops it while others are timed, or while its inputs come. Once or twice may be the machine's doing."""
        # On a CPU what has not stopped yet would be in the way of what the referee does next.
        if self.handle.freeze(settled=self.device.kind == "cpu", watched=self.is_solution) > MOST_BROKEN:
            reason = "it went on while it was stopped, as it is while others are timed"
            raise Stopped(ruling.Ruling("cheated", reason))

    def thaw(self) -> None:
        """Lets it go on, on cores that nothing of ours keeps busy."""
        self.device.rest()
        self.handle.thaw()

    def leave(self) -> None:
        """Ends the worker without waiting until it is gone: its device takes a while to let go."""
        self.handle.leave()

    def close(self) -> None:
        """Ends the worker, then frees what was shared with it."""
        self.handle.end()
        self.free()

    def free(self) -> None:
        """Lets go of what was shared with the worker."""
        if self.gate:
            self.gate.close()
        if self.arena:
            self.arena.release()
        self.arena = self.gate = None

    def _demand_claims(self, finished: Finished, count: int) -> None:
        claims = finished.claims_ms
        if len(claims) != count or not all(0 < claim < LONGEST_CLAIM_MS for claim in claims):
            raise Stopped(ruling.of_protocol(f"{len(claims)} times for {count} calls, or impossible ones"))

    def _batch(self, stacks: list[torch.Tensor], span: slice, word: int, idle: bool) -> float:
        """Nobody can compute ahead: contents come with the clock running, or while every thread stands still."""
        assert self.arena and self.gate
        in_time = self.device.fills_in_time()
        if not in_time:
            self.freeze()
            if not idle:  # nobody reads them, and here the clock does not run yet
                self.arena.fill(stacks, span, word)
        self.arena.poison(span, word ^ POISON)
        self.device.synchronize()
        self.device.rest()
        began = time.perf_counter()
        if in_time:
            self.arena.fill(stacks, span, word)
        else:
            self.handle.thaw()
        self._go(span.stop - span.start)
        return time.perf_counter() - began

    def _singles(self, stacks: list[torch.Tensor], span: slice) -> tuple[float, ...]:
        assert self.arena
        walls = []
        for row, slot in enumerate(range(span.start, span.stop)):
            began = time.perf_counter()
            self.arena.fill([stack[row : row + 1] for stack in stacks], slice(slot, slot + 1))
            self._go(1)
            walls.append(time.perf_counter() - began)
        return tuple(walls)

    def _go(self, count: int) -> None:
        assert self.gate
        seconds = patience(self.seconds["call"], self.call_s, count, self.seconds["total"])
        self.gate.go()
        if not self.gate.wait_done(time.monotonic() + seconds, self.handle.alive):
            if self.handle.alive():
                raise Stopped(ruling.of_deadline("a call" if count == 1 else f"a round of {count} calls", seconds))
            self.handle.expect(Finished, 1.0)  # raises what is waiting: its fault or its end
            raise Stopped(ruling.of_protocol("a round that ends without done"))
