"""Times in milliseconds. The figures of the cases are those that an H200 showed."""

from __future__ import annotations

import pytest
from kbench.referee.attest import attest, trusted_ms

FLUSH = 0.035


@pytest.mark.parametrize(
    ("claimed", "batch", "single", "status"),
    [
        (0.343, 0.346, 0.349, "attested"),  # honest matrix product
        (2.665, 2.692, 2.754, "attested"),
        (0.1065, 0.1136, 0.1325, "loose"),  # half a microsecond short of attested
        (0.0133, 0.016, 0.0271, "loose"),  # too short to tell
        (0.0041, 0.0052, 0.0049, "loose"),
        (0.171, 0.3467, 0.3526, "contradicted"),  # halves its event times
        (1.333, 2.6875, 2.7182, "contradicted"),
        (0.0013, 0.3552, 0.3431, "contradicted"),  # works on a side stream
        (0.0020, 2.7265, 2.7167, "contradicted"),
        (0.0017, 0.1495, 0.0620, "contradicted"),  # computes ahead
        (0.306, 0.380, 0.424, "loose"),  # bound by its launches, honest
        (0.584, 0.640, 0.607, "loose"),
        (0.0, 0.346, 0.349, "contradicted"),
        (-1.0, 0.346, 0.349, "contradicted"),
        (float("nan"), 0.346, 0.349, "contradicted"),
        (5.0, 0.346, 0.349, "attested"),  # claims too much: nobody gains by that
    ],
)
def test_status(claimed: float, batch: float, single: float, status: str) -> None:
    assert attest(claimed, batch, single, FLUSH).status == status


def test_the_trusted_figure_is_the_larger() -> None:
    assert trusted_ms(0.005, 0.009) == 0.009
