"""Memory that the referee owns and one worker maps: input slots, output slots and the flush regions."""

from __future__ import annotations

import contextlib

import torch

from kbench import tree
from kbench.device.interface import Device, Shared
from kbench.protocol import ALIGNMENT, OpenArena, offsets
from kbench.referee import figures
from kbench.referee.busy import seconds_to_write
from kbench.tree import Skeleton, TensorSpec

SAMPLES, LEAST_SAMPLES = 1024, 32  # of an output in a round, and in each of its calls
REGION_SAMPLES = 256


class Layout:
    """Sizes of one slot, from the shapes of inputs and outputs."""

    def __init__(self, inputs: Skeleton, outputs: Skeleton, gradients: tuple[str, ...], flush_bytes: int) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.gradients = gradients
        self.flush_bytes = flush_bytes
        self.input_bytes = offsets(tree.specs(inputs), _itemsizes(inputs))[1]
        self.output_bytes = offsets(tree.specs(outputs), _itemsizes(outputs))[1]


class Arena:
    def __init__(self, device: Device, layout: Layout, slots: int, lead: int) -> None:
        self.device = device
        self.layout = layout
        self.slots = slots
        self._regions = slots + lead  # of the flush
        self._shared: list[Shared] = []
        with contextlib.ExitStack() as undo:
            undo.callback(self.release)
            self._given = self._allocate(slots * layout.input_bytes)
            self._taken = self._allocate(slots * layout.output_bytes)
            flush_bytes = self._regions * layout.flush_bytes
            self._flush = self._allocate(flush_bytes + ALIGNMENT) if layout.flush_bytes else None
            self.inputs = _stacked_views(self._given.view, layout.inputs, slots, layout.input_bytes)
            self.outputs = _stacked_views(self._taken.view, layout.outputs, slots, layout.output_bytes)
            undo.pop_all()

    def message(self) -> tuple[OpenArena, list[int]]:
        """What the worker is told, and the descriptors that come along."""
        order = OpenArena(
            slots=self.slots,
            inputs=self.layout.inputs,
            outputs=self.layout.outputs,
            input_stride=self.layout.input_bytes,
            output_stride=self.layout.output_bytes,
            flush_bytes=self.layout.flush_bytes,
            lead=self._regions - self.slots,
            gradients=self.layout.gradients,
        )
        return order, [memory.fd for memory in self._shared]

    def touch(self) -> None:
        """Maps all slots into this process too, at once: by one page after another it takes longer."""
        for memory in (self._given, self._taken):
            self.device.touch(memory.view)

    def write(self, stacks: list[torch.Tensor], span: slice) -> None:
        """Contents into some slots; each stack holds one row a slot."""
        for view, stack in zip(self.inputs, stacks, strict=True):
            view[span].copy_(stack)

    def poison(self, span: slice, word: int) -> None:
        """Outputs hold garbage before every call, never what a lazy solution could leave as it is."""
        stride = self.layout.output_bytes
        self._taken.view[span.start * stride : span.stop * stride].view(torch.int32).fill_(word)

    def has_room(self, outputs: Skeleton) -> bool:
        """Whether a worker could copy these into a slot."""
        return tree.fits(outputs, [view[0] for view in self.outputs])

    def fill(self, stacks: list[torch.Tensor], span: slice, word: int | None = None) -> None:
        """Contents into some slots, and the word that the flush must write; there when this returns."""
        self.write(stacks, span)
        if word is not None and self._flush is not None:
            self._flush.view.view(torch.int32)[self._regions * self.layout.flush_bytes // 4].fill_(word)
        self.device.synchronize()

    def probe_outputs(self, probes: list[torch.Tensor], span: slice) -> list[torch.Tensor]:
        """A few elements of each output at once, to be held against what is read later."""
        return [probed(view[span], places) for view, places in zip(self.outputs, probes, strict=True)]

    def new_probes(self, calls: int, generator: torch.Generator) -> list[torch.Tensor]:
        """Where `probe_outputs` looks. So few that it takes no time in which late work could still be done."""
        each = max(LEAST_SAMPLES, SAMPLES // calls)
        return [
            torch.randint(
                max(1, view[0].numel()), (each if view[0].numel() else 0,), generator=generator, device=view.device
            )
            for view in self.outputs
        ]

    def take(self, span: slice) -> list[torch.Tensor]:
        """Private copies of outputs."""
        return [view[span].clone() for view in self.outputs]

    def flushed(self, span: slice, word: int, generator: torch.Generator) -> bool:
        """Whether each flush region was written with the word: a sample at once, then all of it.

        Of the lead a sample says enough: it evicts nothing that counts, and leaving out little of it gains little.
        """
        if self._flush is None:
            return True
        count = self.layout.flush_bytes // 4
        regions = self._flush.view.view(torch.int32)[: self._regions * count].view(self._regions, count)
        places = torch.randint(count, (REGION_SAMPLES,), generator=generator, device=regions.device)
        right = [(part[:, places] == word).all() for part in (regions[span], regions[self.slots :])]
        right += [extreme == word for extreme in torch.aminmax(regions[span])]
        return bool(torch.stack(right).all())

    def flush_once(self) -> float:
        """Writes one flush region, as a worker does before a call, and says how long that took."""
        assert self._flush is not None
        return seconds_to_write(self.device, self._flush.view[: self.layout.flush_bytes].view(torch.int32))

    def release(self) -> None:
        self.inputs, self.outputs = [], []
        while self._shared:
            self._shared.pop().release()

    def _allocate(self, count: int) -> Shared:
        self._shared.append(self.device.allocate(max(count, ALIGNMENT)))
        return self._shared[-1]


def _stacked_views(memory: torch.Tensor, skeleton: Skeleton, slots: int, stride: int) -> list[torch.Tensor]:
    """For each tensor of a slot, a view of it in all slots at once."""
    specs = tree.specs(skeleton)
    starts, _ = offsets(specs, _itemsizes(skeleton))
    return [_stacked(memory, spec, slots, stride, start) for spec, start in zip(specs, starts, strict=True)]


def _stacked(memory: torch.Tensor, spec: TensorSpec, slots: int, stride: int, start: int) -> torch.Tensor:
    dtype: torch.dtype = getattr(torch, spec.dtype)
    if spec.numel == 0:
        return torch.empty((slots, *spec.shape), dtype=dtype, device=memory.device)
    words = memory[: memory.numel() // ALIGNMENT * ALIGNMENT].view(dtype)
    inner = spec.stride or _contiguous(spec.shape)
    return words.as_strided((slots, *spec.shape), (stride // dtype.itemsize, *inner), start // dtype.itemsize)


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def probed(stack: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The elements at flat `places` of every row."""
    rows = stack.unsqueeze(1) if stack.dim() == 1 else stack.reshape(stack.shape[0], -1)
    return figures.picked(rows, places)


def _itemsizes(skeleton: Skeleton) -> list[int]:
    return [getattr(torch, spec.dtype).itemsize for spec in tree.specs(skeleton)]
