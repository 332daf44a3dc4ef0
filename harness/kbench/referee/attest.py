"""Whether the worker's claimed time can be true, given what the referee's own clock saw. Pure."""

from __future__ import annotations

from kbench.records import Attestation

BATCH_SLACK_MS, SINGLE_SLACK_MS, SHARE = 0.005, 0.020, 0.06
LOOSE_SHARE = 0.10


def attest(claimed_ms: float, batch_ms: float, single_ms: float, hidden_ms: float) -> Attestation:
    """`hidden_ms` is how long the flush before a timed call lasts.

    Launching work takes the host time that the flush hides in a batch, and that a single call shows: so the
    single figure may honestly exceed the claim by that much. Skipping the flush hides nothing: its memory is
    read afterwards.
    """
    slack = max(BATCH_SLACK_MS, SHARE * batch_ms)
    single_slack = max(SINGLE_SLACK_MS, SHARE * single_ms) + hidden_ms
    if claimed_ms < batch_ms - slack or claimed_ms < single_ms - single_slack or not claimed_ms > 0:
        status = "contradicted"
    elif slack > LOOSE_SHARE * batch_ms:
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
