from __future__ import annotations

from types import SimpleNamespace

import pytest
from kbench.errors import DoesNotFit
from kbench.referee.size import Size, size

GB, MB = 2**30, 2**20


def chosen(kind: str, free: int, inputs: int, outputs: int, flush: int, call_s: float, sides: int = 2) -> Size:
    device = SimpleNamespace(kind=kind)
    layout = SimpleNamespace(input_bytes=inputs, output_bytes=outputs, flush_bytes=flush)
    return size(device, free, layout, sides, call_s)  # type: ignore[arg-type]


def test_short_calls_are_many_and_long_ones_a_few() -> None:
    assert chosen("cuda", 100 * GB, MB, MB, 64 * MB, 1e-6).calls == 96
    assert chosen("cuda", 100 * GB, MB, MB, 64 * MB, 1e-3).calls == 8
    assert chosen("cuda", 100 * GB, MB, MB, 64 * MB, 1.0).calls == 4


def test_a_gpus_rounds_have_the_same_calls_where_the_first_idea_differs_a_little() -> None:
    assert {chosen("cuda", 100 * GB, MB, MB, 64 * MB, us * 1e-6).calls for us in range(190, 235, 5)} == {32}
    assert {chosen("cuda", free * GB // 4, MB, MB, 144 * MB, 1e-6).calls for free in range(88, 97)} == {16}


def test_a_round_takes_no_more_than_its_share_of_the_memory() -> None:
    slot, free = 3 * GB, 60 * GB
    found = chosen("cuda", free, slot // 2, slot // 2, 64 * MB, 1e-3)
    assert found.slots >= found.calls >= 2 and 2 * found.slots * slot <= 0.4 * free
    small = chosen("cuda", 6 * GB, MB, MB, 64 * MB, 1e-6, sides=3)
    assert 3 * (small.slots + small.lead) * 64 * MB <= 0.3 * 6 * GB
    assert small.lead == 2 and found.lead == 2 * found.calls
    assert [chosen("cuda", 100 * GB, MB, MB, 64 * MB, call_s).lead for call_s in (1e-3, 1.0)] == [16, 8]


def test_what_does_not_fit_twice_is_said_with_its_sizes() -> None:
    with pytest.raises(DoesNotFit, match=r"two slots for each of 2 sides take 48\.0 GB"):
        chosen("cuda", 60 * GB, 8 * GB, 4 * GB, 64 * MB, 1e-3)


def test_on_a_cpu_three_rounds_have_slots_of_their_own_and_large_ones_share_them() -> None:
    def of(slot: int, call_s: float, free: int = 16 * GB) -> tuple[int, int]:
        found = chosen("cpu", free, slot // 2, slot // 2, 0, call_s)
        return found.calls, found.slots

    assert of(MB // 4, 2e-3) == (5, 15)
    assert of(8 * MB, 1e-3) == (2, 6)
    assert of(10 * MB, 1e-3) == (2, 2)  # what is larger than the caches anyway is not made three times as large
    assert of(GB, 1.0) == (2, 2)
    assert of(2**10, 1e-5) == (128, 128)
    assert of(MB, 1e-3, free=60 * MB) == (10, 10)
