"""Calls the model on the arena's inputs and copies what it returns into the arena's outputs."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kbench import tree
from kbench.device.gate import Gate
from kbench.device.interface import Device
from kbench.protocol import ALIGNMENT, Armed, Call, Finished, OpenArena, Returned, Round, Trace, Traced, offsets
from kbench.tree import Skeleton, TensorSpec
from kbench.wire import Channel
from kbench.worker import backward
from kbench.worker.intercept import Intercept
from kbench.worker.subject import Subject
from kbench.worker.trace import traced


class Runner:
    def __init__(self, subject: Subject, channel: Channel, device: Device, extensions: Intercept) -> None:
        self.subject = subject
        self.extensions = extensions
        self.channel = channel
        self.device = device
        self.gate: Gate | None = None
        self.attached: list[torch.Tensor] = []
        self.inputs: list[Any] = []
        self.outputs: list[list[torch.Tensor]] = []
        self.expected: Skeleton = tree.Plain(value=None, kind="None")
        self.gradients: tuple[str, ...] = ()
        self.grad = False
        self.flush: list[torch.Tensor] = []
        self.lead = self.secret = torch.empty(0)
        self.blank: Any = None
        self.count = 0
        self.settled = False
        self.simple = False  # nothing but tensors is returned
        self.events: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []

    def open(self, arena: OpenArena, fds: list[int]) -> None:
        self.close()  # what it had for a former solution
        given = self._attach(fds.pop(0), arena.slots * arena.input_stride)
        taken = self._attach(fds.pop(0), arena.slots * arena.output_stride)
        if arena.flush_bytes:
            self._open_flush(arena, fds.pop(0))
        self.gate = self.device.join_gate(fds)
        self.grad = self.subject.order.grad
        self.gradients = arena.gradients
        self.expected = tree.without(arena.outputs, "state")  # timed calls hand in no buffers
        self.inputs = [
            tree.rebuild(arena.inputs, _views(given, arena.inputs, slot * arena.input_stride))
            for slot in range(arena.slots)
        ]
        self.outputs = [list(_views(taken, arena.outputs, slot * arena.output_stride)) for slot in range(arena.slots)]
        self.count = len(tree.specs(self.expected))
        self.simple = all(isinstance(leaf, TensorSpec) for leaf in tree.leaves(self.expected))
        for part in (given, taken):
            self.device.touch(part)  # while the other side does the same, on another core
        gc.collect()
        gc.freeze()  # what is alive now stays: collecting before each round then takes no time

    def _attach(self, fd: int, count: int) -> torch.Tensor:
        self.attached.append(self.device.attach(fd, count))
        os.close(fd)
        return self.attached[-1]

    def _open_flush(self, arena: OpenArena, fd: int) -> None:
        count, total = arena.flush_bytes // 4, arena.slots + arena.lead
        words = self._attach(fd, total * arena.flush_bytes + ALIGNMENT).view(torch.int32)
        self.flush = [words[slot * count : (slot + 1) * count] for slot in range(arena.slots)]
        self.lead = words[arena.slots * count : total * count]
        self.secret = words[total * count]
        self.events = [(_event(), _event()) for _ in range(arena.slots)]

    def close(self) -> None:
        """Lets go of the arena: only then the referee can have its memory back."""
        self.inputs, self.outputs, self.flush = [], [], []
        self.lead = self.secret = torch.empty(0)
        while self.attached:
            self.device.detach(self.attached.pop())
        if self.gate:
            self.gate.close()
        self.gate = None

    def call(self, order: Call) -> Returned:
        self.subject.restore_buffers()
        value = self._run(order.slot)
        if order.state:
            held = self.subject.named("buffers")
            value["state"] = {name: held[name].detach() for name in order.state if name in held}
        outputs = tree.describe(value)
        copied = self._fits(outputs)
        if copied:
            self._copy(value, order.slot)
        self.device.synchronize()
        return Returned(outputs=outputs, copied=copied)

    def trace(self, order: Trace) -> Traced:
        # What it takes to make outputs contiguous counts on a GPU, and so is seen.
        call = (lambda: self._ordered(self._run(order.slot))) if self.events else (lambda: self._run(order.slot))
        return traced(call, order.passes, self.device, self.extensions.own)

    def round(self, order: Round) -> Finished:
        gate = self.gate
        assert gate is not None
        if order.mode.startswith("null") and self.blank is None:
            self.blank = self._ordered(self._run(order.slots[0]))  # copied as outputs are
        call = self._blank if order.mode.startswith("null") else self._run
        odd: dict[str, Skeleton] = {}
        gc.collect()
        if not self.settled:
            gc.freeze()  # what first calls import and build stays, too
            self.settled = True
        gc.disable()
        try:
            self.device.synchronize()
            self.device.take_places()
            self.channel.send(Armed())
            if order.mode.endswith("batch"):
                gate.wait_go()
                self.device.begin()
                self._batch(order, call, odd)
                gate.done()
            else:
                self._singles(order, gate, call, odd)
        finally:
            gc.enable()
        return Finished(claims_ms=self._claims(order), odd=odd)

    def _claims(self, order: Round) -> tuple[float, ...]:
        if order.mode != "batch":
            return ()
        return tuple(begin.elapsed_time(end) for begin, end in self.events[: len(order.slots)])

    def _batch(self, order: Round, call: Callable[[int], Any], odd: dict[str, Skeleton]) -> None:
        events: list[Any] = [*self.events] or [None] * len(order.slots)
        if self.flush:
            # Behind this the host's first launches hide; without it a round of few calls seems to take as much longer.
            self.lead.copy_(self.secret)
        for slot, event in zip(order.slots, events, strict=False):
            if self.flush:
                # Each call evicts the cache with memory of its own, written with a word that only "go" brings:
                # the referee sees afterwards whether every one of them was written.
                self.flush[slot].copy_(self.secret)
            if event:
                event[0].record()
            value = call(slot)
            if event:
                value = self._ordered(value)
                event[1].record()
            self._hand_in(value, slot, odd)
        self.device.synchronize()

    def _singles(self, order: Round, gate: Gate, call: Callable[[int], Any], odd: dict[str, Skeleton]) -> None:
        for slot in order.slots:
            gate.wait_go()
            self._hand_in(call(slot), slot, odd)
            self.device.synchronize()
            gate.done()

    def _run(self, slot: int) -> dict[str, Any]:
        if not self.grad:
            with torch.no_grad():
                return {"output": self.subject.model(*self.inputs[slot])}
        return backward.run(self.subject, self.inputs[slot], self.gradients)

    def _ordered(self, value: Any) -> Any:
        """Outputs in plain order, on every side: what that takes is part of the call.

        Left to the copying it would count nowhere, and rounds without work would seem to take as much.
        """
        tensors = tree.tensors(value)
        if all(map(tree.is_contiguous, tensors)):
            return value
        with torch.no_grad():
            fresh = [one if tree.is_contiguous(one) else one.contiguous() for one in tensors]
        return tree.rebuild(tree.describe(value), iter(fresh))

    def _blank(self, slot: int) -> Any:
        return self.blank

    def _hand_in(self, value: Any, slot: int, odd: dict[str, Skeleton]) -> None:
        places = self.outputs[slot]
        tensors = tree.tensors(value) if self.simple else []
        if tensors and len(tensors) == self.count and all(map(_alike, tensors, places)):
            with torch.no_grad():
                for tensor, place in zip(tensors, places, strict=False):
                    place.copy_(tensor)
            return
        outputs = tree.describe(value)
        if outputs != self.expected:
            odd[str(slot)] = outputs
        if self._fits(outputs):
            self._copy(value, slot)

    def _fits(self, outputs: Skeleton) -> bool:
        return tree.fits(outputs, self.outputs[0])

    def _copy(self, value: Any, slot: int) -> None:
        with torch.no_grad():
            for tensor, place in zip(tree.tensors(value), self.outputs[slot], strict=False):
                if tensor.shape == place.shape:
                    place.copy_(tensor)
                else:
                    place.flatten()[: tensor.numel()].copy_(tensor.flatten())


def _alike(tensor: torch.Tensor, place: torch.Tensor) -> bool:
    return tensor.shape == place.shape and tensor.dtype == place.dtype and tensor.device == place.device


def _views(memory: torch.Tensor, skeleton: Skeleton, base: int) -> Iterator[torch.Tensor]:
    specs = tree.specs(skeleton)
    dtypes = [getattr(torch, spec.dtype) for spec in specs]
    starts, _ = offsets(specs, [dtype.itemsize for dtype in dtypes])
    for spec, dtype, start in zip(specs, dtypes, starts, strict=True):
        flat = memory[base + start : base + start + spec.numel * dtype.itemsize].view(dtype)
        yield flat.as_strided(spec.shape, spec.stride) if spec.stride else flat.reshape(spec.shape)


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
