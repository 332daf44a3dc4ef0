from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
import torch
from kbench import tree
from kbench.device.cpu import Cpu
from kbench.referee.arena import Layout
from kbench.referee.handle import Handle
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.side import SOLUTION, Side, patience
from kbench.referee.size import Size


def test_a_round_of_slow_calls_is_in_time_where_each_of_them_is() -> None:
    assert patience(20.0, 6.0, 4, 600.0) > 4 * 6.0
    assert patience(20.0, 0.001, 8, 600.0) < 21.0  # who hangs now is found out as soon as in a call
    assert patience(20.0, 19.0, 100, 600.0) == 600.0  # who was slow on purpose waits no longer than that


@pytest.mark.parametrize("name, verdict", [(SOLUTION, "crashed"), ("eager", "unsupported")])
def test_a_worker_that_is_gone_before_it_has_its_arena(name: str, verdict: str) -> None:
    def gone(*_: object) -> None:
        raise Stopped(Ruling("crashed", "its process is gone"))

    handle = SimpleNamespace(send=gone, end=lambda: None)
    side = Side(name, cast(Handle, handle), Cpu(), {})
    shape = tree.describe([torch.zeros(8)])
    with pytest.raises(Stopped) as stopped:
        side.offer(Layout(shape, shape, (), 0), Size(2, 2))
    assert stopped.value.ruling.verdict == verdict
    side.close()
