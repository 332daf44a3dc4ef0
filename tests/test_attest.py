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
    assert attest(claimed, [batch], [single], FLUSH).status == status


def test_a_busy_host_makes_no_liar() -> None:
    """Honest work beside a solution that kept all cores of the host busy: most rounds came late, few did not."""
    batches = [0.190, 0.187, 0.211, 0.109, 0.195, 0.352, 0.203, 0.188, 0.190, 0.201]
    singles = [3.58, 3.61, 0.131, 7.52, 3.58, 3.57, 3.59, 7.50]
    found = attest(0.107, batches, singles, FLUSH)
    assert (found.status, found.batch_ms, found.single_ms) == ("attested", 0.188, 0.131)
    # And where no round at all was left alone, the referee's figures count.
    assert attest(0.107, [0.130, 0.187, 0.211], [0.15, 3.58, 3.61], FLUSH).status == "loose"


def test_nor_does_it_hide_one() -> None:
    assert attest(0.107, [0.352, 0.3, 0.41, 0.31], [0.33, 3.58, 0.35, 7.5], FLUSH).status == "contradicted"
    assert attest(0.107, [0.109, 0.11, 0.108], [0.35, 0.36, 3.58], FLUSH).status == "contradicted"


def test_a_claim_that_is_not_attested_gains_nothing() -> None:
    loose, attested = (attest(claimed, [0.346], [0.349], FLUSH) for claimed in (0.30, 0.343))
    assert (loose.status, attested.status) == ("loose", "attested")
    assert [trusted_ms(claimed, loose) for claimed in (0.29, 0.30, 0.31)] == pytest.approx([0.31524, 0.32524, 0.33524])
    assert trusted_ms(0.343, attested) == 0.343
    small = attest(0.030, [0.028], [0.05], FLUSH)  # too short to attest; what it claims is more than was seen
    assert (small.status, trusted_ms(0.030, small)) == ("loose", 0.030)
    forged = attest(0.024, [0.028], [0.05], FLUSH)  # and here no slack is given
    assert (forged.status, trusted_ms(0.024, forged)) == ("loose", 0.028)


def test_no_figure_jumps_where_work_becomes_bound_by_its_host() -> None:
    """The same claims in two runs: in the second the host was a little slower."""
    figures = [trusted_ms(0.3720, attest(0.3720, [batch], [0.5], FLUSH)) for batch in (0.3955, 0.3960, 0.4000)]
    assert figures == pytest.approx([0.3720, 0.37224, 0.376])
