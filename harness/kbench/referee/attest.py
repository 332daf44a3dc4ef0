"""Whether the worker's claimed time can be true, given what the referee's own clock saw. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbench.records import Attestation
from kbench.stats import undisturbed

BATCH_SLACK_MS, SHARE = 0.005, 0.06
LOOSE_SHARE = 0.10
FALSE_SHARE = 0.75
SINGLE_SLACK_MS, SINGLE_SHARE = 0.020, 0.5


def attest(
    claimed_ms: float, batches_ms: Sequence[float], singles_ms: Sequence[float], hidden_ms: float
) -> Attestation:
    """`hidden_ms` is how long the flush before a timed call lasts.

    The batch figure decides: whatever a batch leaves out, the flush included, is found in memory afterwards. Work
    that is bound by its launches hides as much of them behind the flush as that lasts, so its claim may honestly
    be short by that, and by what it frees after the second event. Such a claim is not attested, but no lie
    either: the referee's figure counts.

    A busy host only ever adds to the referee's clock, in most rounds if it is busy enough, and work that is really
    there takes its time in every round. So the quickest round and the quickest single call are what a claim is
    held to.
    """
    least_ms, single_ms = max(min(batches_ms), 0.0), min(singles_ms)
    slack = max(BATCH_SLACK_MS, SHARE * least_ms)
    most = claimed_ms + hidden_ms
    too_short = most < FALSE_SHARE * least_ms - BATCH_SLACK_MS or most < SINGLE_SHARE * single_ms - SINGLE_SLACK_MS
    if too_short or not claimed_ms > 0:
        status = "contradicted"
    elif claimed_ms < least_ms - slack or slack > LOOSE_SHARE * least_ms:
        status = "loose"
    else:
        status = "attested"
    return Attestation(
        status=status,  # type: ignore[arg-type]
        method="events-bounded",
        claimed_ms=claimed_ms,
        batch_ms=max(undisturbed(batches_ms), 0.0),
        single_ms=single_ms,
        slack_ms=slack,
    )


def trusted_ms(claimed_ms: float, found: Attestation) -> float:
    """A round's figure: the claim, and where claims are not attested as much more as the referee's clock saw.

    By the lower quartile of its rounds: where nothing is attested a lucky one says too little. The slack that an
    attested claim has is given here too: no figure may jump where work is a little more or less bound by its host.
    """
    assert found.batch_ms is not None and found.claimed_ms is not None and found.slack_ms is not None
    if found.status == "attested":
        return claimed_ms
    given = found.slack_ms if found.slack_ms <= LOOSE_SHARE * found.batch_ms else 0.0
    return claimed_ms + max(0.0, found.batch_ms - given - found.claimed_ms)
