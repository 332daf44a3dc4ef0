"""One secret seed, from which all others follow: the same again with `--seed`, and no two uses alike."""

from __future__ import annotations

import itertools

from kbench.referee.seeds import Seeds
from kbench.settings import MAX_SEED

USES = [
    ("weights", "first"),
    ("weights", "second"),
    ("inputs", "first", 0),
    ("inputs", "first", 1),
    ("inputs", "second", 0),
]


def drawn(seeds: Seeds) -> list[int]:
    return [*(seeds.for_use(*use) for use in USES), *(seeds.next_round() for _ in range(3))]


def test_a_given_seed_gives_all_others_again() -> None:
    assert drawn(Seeds(7)) == drawn(Seeds(7))


def test_no_two_uses_rounds_or_evaluations_have_one_in_common() -> None:
    every = [number for seeds in (Seeds(7), Seeds(8), Seeds(None), Seeds(None)) for number in drawn(seeds)]
    assert len(set(every)) == len(every)
    assert all(0 <= number <= MAX_SEED for number in every)


def test_what_a_secret_one_is_can_be_given_again() -> None:
    secret = Seeds(None)
    assert 0 <= secret.master <= MAX_SEED
    again = Seeds(secret.master)
    assert [again.next_round() for _ in itertools.repeat(None, 3)] == [secret.next_round() for _ in range(3)]
