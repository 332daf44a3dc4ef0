"""Whether the worker's claimed time can be true, given what the referee's own clock saw. Pure."""

from __future__ import annotations

from kbench.records import Attestation

BATCH_SLACK_MS, SHARE = 0.005, 0.06
LOOSE_SHARE = 0.10
FALSE_SHARE = 0.75
SINGLE_SLACK_MS, SINGLE_SHARE = 0.020, 0.5


def attest(claimed_ms: float, batch_ms: float, single_ms: float, hidden_ms: float) -> Attestation:
    """`hidden_ms` is how long the flush before a timed call lasts.

    The batch figure decides: whatever a batch leaves out, the flush included, is found in memory afterwards. Work
    that is bound by its launches hides as much of them behind the flush as that lasts, so its claim may honestly
    be short by that, and by what it frees after the second event. Such a claim is not attested, but no lie
    either: the referee's figures take its place, and nobody gains.
    """
    slack = max(BATCH_SLACK_MS, SHARE * batch_ms)
    most = claimed_ms + hidden_ms
    too_short = most < FALSE_SHARE * batch_ms - BATCH_SLACK_MS or most < SINGLE_SHARE * single_ms - SINGLE_SLACK_MS
    if too_short or not claimed_ms > 0:
        status = "contradicted"
    elif claimed_ms < batch_ms - slack or slack > LOOSE_SHARE * batch_ms:
        status = "loose"
    else:
        status = "attested"
    return Attestation(
        status=status,  # type: ignore[arg-type]
        method="events-bounded",
        claimed_ms=claimed_ms,
        batch_ms=batch_ms,
        single_ms=single_ms,
        slack_ms=slack,
    )


def trusted_ms(batch_ms: float, single_ms: float) -> float:
    """The figure that nobody but the referee made, for work too short to attest a claim."""
    return max(batch_ms, single_ms)
