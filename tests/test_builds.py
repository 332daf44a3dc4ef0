"""The builds of one evaluation: all of them together have one deadline."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from kbench.protocol import BuildAsk
from kbench.records import Extension
from kbench.referee.builds import Builds
from kbench.referee.ruling import Stopped

ASK = BuildAsk(kind="inline", name="x", cpp_sources=("int f();",))


class Builder:
    """Is asked, and never answers."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def send(self, request: Any) -> None:
        self.asked.append(request.timeout_s)
        raise InterruptedError


@pytest.mark.parametrize(("spent", "left"), [((), 10.0), ((4.0,), 6.0), ((4.0, 5.5), 0.5)])
def test_each_has_what_the_others_left(spent: tuple[float, ...], left: float) -> None:
    builder = Builder()
    with pytest.raises(InterruptedError):
        build(builder, spent)
    assert builder.asked == [left]


def test_many_together_take_no_longer_than_one_may() -> None:
    builder = Builder()
    with pytest.raises(Stopped) as stopped:
        build(builder, (6.0, 4.5))
    assert stopped.value.ruling.verdict == "timed_out" and "build" in stopped.value.ruling.reason
    assert builder.asked == []


def build(builder: Builder, spent: tuple[float, ...]) -> None:
    device = SimpleNamespace(kind="cpu", info=lambda: SimpleNamespace(capability=None))
    builds = Builds(cast(Any, builder), cast(Any, device), frozenset(), "auto", {})
    builds.extensions += [
        Extension(name="x", key="x", cached=False, seconds=seconds, artifact=None, path="light") for seconds in spent
    ]
    builds.build(ASK, cast(Any, None), 10.0)
