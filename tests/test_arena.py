"""What the referee's memory shows after a round."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator

import pytest
import torch
from kbench import tree
from kbench.device.cpu import Cpu
from kbench.device.memory import HostMemory
from kbench.protocol import Finished
from kbench.referee.arena import Arena, Layout
from kbench.referee.side import Run

SLOTS, LEAD, WORDS, WORD = 4, 3, 256, 77
SPAN = slice(1, 3)


@pytest.fixture
def arena() -> Iterator[Arena]:
    shape = tree.describe([torch.zeros(8)])
    made = Arena(Cpu(), Layout(shape, shape, (), flush_bytes=4 * WORDS), SLOTS, LEAD)
    yield made
    made.release()


class Small(Cpu):
    """It has room for two, which it counts."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[HostMemory] = []

    def allocate(self, count: int) -> HostMemory:
        if len(self.taken) == 2:
            raise MemoryError
        self.taken.append(HostMemory(count))
        return self.taken[-1]


def test_where_there_is_no_room_for_all_of_it_nothing_stays() -> None:
    shape, device = tree.describe([torch.zeros(8)]), Small()
    with pytest.raises(MemoryError):
        Arena(device, Layout(shape, shape, (), flush_bytes=4 * WORDS), SLOTS, LEAD)
    for memory in device.taken:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(memory.fd)


def flushed(arena: Arena, *left_out: int) -> bool:
    """Whether it looks flushed after a round on SPAN that left some words of the lead and the regions out."""
    assert arena._flush is not None
    arena.fill([torch.zeros(2, 8)], SPAN, WORD)
    words = arena._flush.view.view(torch.int32)
    assert words[(SLOTS + LEAD) * WORDS] == WORD  # where the worker finds it
    words[SPAN.start * WORDS : SPAN.stop * WORDS] = WORD
    words[SLOTS * WORDS : (SLOTS + LEAD) * WORDS] = WORD
    words[list(left_out)] = 0
    return arena.flushed(SPAN, WORD, torch.Generator().manual_seed(1))


def test_a_round_that_wrote_everything(arena: Arena) -> None:
    assert flushed(arena)


@pytest.mark.parametrize("place", [WORDS, 3 * WORDS - 1])
def test_a_single_word_that_was_not_written_is_found(arena: Arena, place: int) -> None:
    assert not flushed(arena, place)


@pytest.mark.parametrize("region", range(SLOTS, SLOTS + LEAD))
def test_a_twentieth_of_the_lead_that_was_not_written_is_found(arena: Arena, region: int) -> None:
    assert not flushed(arena, *range(region * WORDS, region * WORDS + WORDS // 20))


def test_slots_of_other_rounds_do_not_matter(arena: Arena) -> None:
    assert flushed(arena, 0, WORDS - 1, 3 * WORDS, SLOTS * WORDS - 1)


def test_outputs_are_poisoned_in_the_slots_of_the_round(arena: Arena) -> None:
    arena.outputs[0].fill_(1.0)
    arena.poison(SPAN, 0x2A2A2A2A)
    assert bool((arena.outputs[0][SPAN] != 1.0).all())
    assert bool((arena.outputs[0][[0, 3]] == 1.0).all())


def test_once_touched_slots_are_written_without_faults() -> None:
    rows = tree.describe([torch.zeros(2**20)])
    counts = []
    for touched in (True, False):
        arena = Arena(Cpu(), Layout(rows, rows, (), flush_bytes=0), slots=8, lead=0)
        if touched:
            arena.touch()
        counts.append(faults(lambda arena=arena: arena.poison(slice(0, 8), WORD)))
        arena.release()
    assert counts[0] < counts[1] / 10


def test_touching_leaves_what_is_there() -> None:
    memory = HostMemory(2**16)
    memory.view.copy_(torch.arange(2**16) % 251)
    Cpu().touch(memory.view[100:])
    assert torch.equal(memory.view.long(), torch.arange(2**16) % 251)
    memory.release()


def faults(work: Callable[[], object]) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    work()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.parametrize("calls", [1, 2, 32])
def test_late_work_is_seen_in_any_call_of_a_round(calls: int) -> None:
    rows = tree.describe([torch.zeros(40, 30).T, torch.zeros(0)], strides=True)
    arena = Arena(Cpu(), Layout(rows, rows, (), flush_bytes=0), slots=calls, lead=0)
    span = slice(0, calls)
    arena.poison(span, 0)
    places = arena.new_probes(calls, torch.Generator().manual_seed(1))
    seen = arena.probe_outputs(places, span)
    assert [tuple(part.shape) for part in seen] == [(calls, max(32, 1024 // calls)), (calls, 0)]
    for call in range(calls):
        arena.outputs[0][call, 15:] = 1.0  # half of it
        assert run_that_saw(places, seen).untouched(arena.take(span)) is False
        arena.outputs[0][call] = 0.0
    assert run_that_saw(places, seen).untouched(arena.take(span))
    arena.release()


def run_that_saw(places: list[torch.Tensor], seen: list[torch.Tensor]) -> Run:
    return Run((0.0,), Finished(claims_ms=(), odd={}), places, seen, flushed=True)
