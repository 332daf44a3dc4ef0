"""A fault of the problem file is exit 2 (3 where the machine is too small), with one clear message."""

from __future__ import annotations

import pytest
from conftest import AFFINE, BROKEN, quick
from kbench.client import Referee
from kbench.errors import KbenchError

SAYS = {
    "not_python": (2, "not Python"),
    "exits_at_import": (2, "ends the process"),
    "sys_exit_at_import": (2, "ends the process"),
    "segfault_at_import": (2, "SIGSEGV"),
    "hangs_at_import": (2, "hangs"),
    "hangs_in_forward": (2, "hangs"),
    "no_model": (2, "defines no Model"),
    "get_inputs_raises": (2, "no inputs today"),
    "get_inputs_no_list": (2, "returns a Tensor"),
    "unknown_key": (2, "the nearest is 'grad'"),
    "unknown_constant": (2, "the nearest is 'rows'"),
    "yields_nan": (2, "NaN"),
    "cuda_inputs": (2, "get_inputs"),
    "raises_in_forward": (2, "not today"),
    "too_large": (3, "too large"),
}


@pytest.fixture(scope="module")
def impatient() -> Referee:
    with Referee("cpu") as warm:
        yield warm


@pytest.mark.parametrize("name", SAYS)
def test_problem(name: str, impatient: Referee, monkeypatch: pytest.MonkeyPatch) -> None:
    code, message = SAYS[name]
    monkeypatch.setattr("kbench.client.GRACE_S", 0.0)
    settings = quick(timeouts={"load": 4.0, "first-call": 4.0})
    with pytest.raises(KbenchError) as caught:
        impatient.evaluate(BROKEN / "problems" / f"{name}.py", AFFINE, settings=settings)
    assert caught.value.exit_code == code
    assert message in caught.value.message
    assert caught.value.fix


def test_every_file_is_listed() -> None:
    files = {path.stem for path in (BROKEN / "problems").glob("*.py")} - {"random_outputs"}
    assert files == set(SAYS)


def test_random_outputs_cannot_be_judged(impatient: Referee) -> None:
    result = impatient.evaluate(BROKEN / "problems" / "random_outputs.py", AFFINE, settings=quick())[0]
    assert result.verdict == "unsupported"
    assert "random" in (result.reason or "")
