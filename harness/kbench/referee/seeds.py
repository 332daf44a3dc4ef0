"""Secret seeds, all derived from one: recorded afterwards, so that `--seed` reproduces a failure."""

from __future__ import annotations

import hashlib
import os

from kbench.settings import MAX_SEED


class Seeds:
    def __init__(self, given: int | None) -> None:
        self.given = given
        self.master = given if given is not None else int.from_bytes(os.urandom(8), "big") & MAX_SEED
        self._count = 0

    def for_use(self, *use: object) -> int:
        """The seed of one named use; the same name gives the same seed."""
        text = f"{self.master}:" + ":".join(map(str, use))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") & (2**62 - 1)

    def next_round(self) -> int:
        self._count += 1
        return self.for_use("round", self._count)
