from __future__ import annotations

import pytest
from kbench import units


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0.0052, "5.20 us"),
        (0.0123, "12.3 us"),
        (0.9, "900 us"),
        (1.5, "1.50 ms"),
        (250.0, "250 ms"),
        (2500.0, "2.50 s"),
    ],
)
def test_duration(ms: float, text: str) -> None:
    assert units.duration(ms) == text


def test_interval_shares_the_unit_of_its_value() -> None:
    assert units.duration_interval(0.9, 1.1, 0.99) == "[900, 1100]"
    assert units.duration_interval(0.9, 1.1, 1.01) == "[0.90, 1.10]"


def test_size_and_plural() -> None:
    assert units.size(512) == "512 B"
    assert units.size(6.4 * 2**30) == "6.4 GB"
    assert units.plural(1, "trial") == "1 trial"
    assert units.plural(2, "trial") == "2 trials"
