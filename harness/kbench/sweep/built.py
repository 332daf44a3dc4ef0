"""Which solutions were built before, so that nobody starts a process only to find everything in the cache."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import msgspec

from kbench import solution
from kbench.build.cache import sweep
from kbench.records import DeviceInfo, Environment, Result
from kbench.referee.events import Prepared
from kbench.sweep.pair import Pair

# Whoever builds an extension names the module that does it. One that hides it is built when it is evaluated.
SIGN = "cpp_extension"
STALE_S = 90 * 24 * 3600.0


class Built:
    """Notes beside the build cache: for each solution the keys of its extensions. `cache` None remembers nothing."""

    def __init__(self, cache: Path | None) -> None:
        self.cache = cache
        self.folder = cache / "solutions" if cache else None
        if self.folder:
            sweep(self.folder, "*", STALE_S)

    def has(self, pair: Pair, place: tuple[DeviceInfo, Environment]) -> bool:
        """Whether everything that it builds is still in the cache."""
        if self.folder is None or self.cache is None:
            return False
        try:
            keys = msgspec.json.decode((self.folder / _key(pair, *place)).read_bytes(), type=list[str])
        except (OSError, msgspec.DecodeError):
            return False
        return all((self.cache / key).is_dir() for key in keys)

    def may_build(self, pair: Pair) -> bool:
        texts = solution.own_texts(solution.read(Path(pair.solution), pair.solution_id, pair.settings.entry))
        return any(SIGN in text for text in texts.values())

    def note(self, pair: Pair, place: tuple[DeviceInfo, Environment], seen: Result | Prepared) -> None:
        """Remembers a solution all of whose extensions were built."""
        build = seen.build
        if self.folder is None or build is None or not all(one.artifact for one in build.extensions):
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            keys = [one.key for one in build.extensions]
            (self.folder / _key(pair, *place)).write_bytes(msgspec.json.encode(keys))


def _key(pair: Pair, device: DeviceInfo, environment: Environment) -> str:
    parts = (pair.solution_sha256, pair.problem_sha256, pair.settings.build, pair.settings.entry, device.capability)
    told = msgspec.json.encode((*parts, device.kind, msgspec.to_builtins(environment)), order="deterministic")
    return hashlib.sha256(told).hexdigest()[:32]
