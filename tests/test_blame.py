from __future__ import annotations

import pytest
import torch
from kbench.device.cpu import Cpu
from kbench.errors import DoesNotFit, KbenchError, MachineFault, ProblemFault
from kbench.problem import Source
from kbench.referee import blame

SOURCE = Source(path="problem.py", id="problem", text="", sha256="")


def blamed(error: BaseException) -> KbenchError:
    with pytest.raises(KbenchError) as caught, blame.running(SOURCE, Cpu(), "in get_inputs()"):
        raise error
    return caught.value


def test_what_its_code_raises_is_the_problems_fault_at_its_line() -> None:
    code = compile("def get_inputs():\n    return 1 / 0\n", SOURCE.path, "exec")
    names: dict[str, object] = {}
    exec(code, names)
    said = r"problem\.py:2: in get_inputs\(\): ZeroDivisionError"
    with pytest.raises(ProblemFault, match=said), blame.running(SOURCE, Cpu(), "in get_inputs()"):
        names["get_inputs"]()  # type: ignore[operator]


@pytest.mark.parametrize(
    "error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("can't allocate memory: 8 GB")]
)
def test_no_memory_is_the_machines(error: BaseException) -> None:
    assert type(blamed(error)) is DoesNotFit


def test_an_exit_is_the_problems_and_ours_stays_ours() -> None:
    assert "ends the process" in str(blamed(SystemExit(0)))
    assert type(blamed(MachineFault("no disk", "make room"))) is MachineFault
