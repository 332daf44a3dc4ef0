from __future__ import annotations

import pytest
from kbench.device.limits import Rates
from kbench.records import Floor
from kbench.referee import floor

H200 = Rates(bytes_per_s=4e12, operations_per_s=7e14)


def made(
    bytes: float | None = None, moved: int = 0, operations: float | None = None, cache: int = 0, eight_bit: bool = False
) -> Floor | None:
    return floor.floor(bytes, moved, operations, H200, cache, eight_bit)


def test_the_longer_of_bytes_and_operations_counts() -> None:
    by_bytes, by_operations = made(bytes=4e9, operations=7e10), made(bytes=4e9, operations=7e12)
    assert by_bytes and by_bytes.by == "bytes" and by_bytes.ms == pytest.approx(1.0)
    assert by_operations and by_operations.by == "operations" and by_operations.ms == pytest.approx(10.0)


def test_what_fits_the_cache_need_not_be_moved() -> None:
    assert made(moved=50_000_000, cache=60_000_000) is None
    larger = made(moved=460_000_000, cache=60_000_000)
    assert larger and larger.ms == pytest.approx(0.1)


def test_products_of_eight_bits_are_twice_as_fast() -> None:
    wide, narrow = made(operations=7e12), made(operations=7e12, eight_bit=True)
    assert wide and narrow and wide.ms == pytest.approx(2 * narrow.ms)


def test_an_impossible_time_is_a_lie_where_the_problem_states_the_work() -> None:
    stated = made(bytes=4e9)
    ruling = floor.judge(stated, 0.7, "cuda")
    assert ruling and ruling.verdict == "cheated"
    assert ruling.reason == "an impossible time: 700 us for 3.7 GB at 3.6 TB/s: at least 1.00 ms"
    assert floor.judge(stated, 0.8, "cuda") is None
    assert floor.judge(stated, 0.7, "cpu") is None
    assert floor.judge(None, 0.7, "cuda") is None


def test_and_a_warning_where_it_was_only_counted() -> None:
    counted = made(moved=4_000_000_000)
    assert floor.judge(counted, 0.7, "cuda") is None
    (warning,) = floor.warning(counted, 0.7)
    assert warning.code == "implausible" and "3.7 GB at 3.6 TB/s" in warning.message
    assert floor.warning(counted, 0.9) == []
    operations = made(operations=7e11)
    assert operations and "700 G operations at 700 T/s: at least 1.00 ms" in floor.arithmetic(operations)
