from __future__ import annotations

from pathlib import Path

import pytest
from kbench import problem, problem_settings
from kbench.errors import ProblemFault, UsageFault
from kbench.problem_settings import ProblemSettings

TEXT = """
KBENCH = dict({settings})
size, other = 4, 5
area = size * size

class Model: pass

def get_inputs():
    return [size, area, other]
"""


def read(tmp_path: Path, settings: str = "") -> problem.Source:
    path = tmp_path / "one.py"
    path.write_text(TEXT.format(settings=settings))
    return problem.read(path, "one")


def settings(tmp_path: Path, text: str) -> ProblemSettings:
    source = read(tmp_path, text)
    return problem_settings.read(source, problem.load(source))


def test_constants_that_follow_from_a_replaced_one_follow_it(tmp_path: Path) -> None:
    loaded = problem.load(read(tmp_path), {"size": 3})
    assert loaded.get_inputs() == [3, 9, 5]


def test_a_mark_of_byte_order_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "marked.py"
    path.write_text(TEXT.format(settings=""), encoding="utf-8-sig")
    assert problem.load(problem.read(path, "marked")).get_inputs() == [4, 16, 5]


def test_defaults(tmp_path: Path) -> None:
    found = settings(tmp_path, "")
    assert found == ProblemSettings()
    assert found.transforms == ("one", "sign", "scale")


def test_everything_that_may_be_said(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        "workloads={'cpu': dict(size=1)}, grad=True, atol=1e-3, rtol=0, norm_tol=1e-2, precision='full', "
        "transforms=[], custom_kernel=0.5, tags=['a'], bytes=10, flops=20, check=lambda i, o: True, "
        "baselines=['eager'], timeout={'call': 5}",
    )
    assert found.grad and found.atol == 1e-3 and found.timeout == {"call": 5.0} and found.tags == ("a",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("graad=True", "nearest is 'grad'"),
        ("grad=1", "grad is 1"),
        ("atol=-1", "atol is -1"),
        ("atol='1e-3'", "atol is '1e-3'"),
        ("precision='fp64'", "precision is 'fp64'"),
        ("transforms=['sihn']", "names 'sihn'"),
        ("workloads={'a': dict(sise=1)}", "nearest is 'size'"),
        ("workloads=['a']", "no dict of dicts"),
        ("timeout={'cal': 1}", "names 'cal'"),
        ("check=3", "check is 3"),
        ("baselines=['fast']", "names 'fast'"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ProblemFault, match=says) as caught:
        settings(tmp_path, text)
    assert caught.value.fix


def test_workloads_are_chosen_for_the_device() -> None:
    both = ProblemSettings(workloads={"default": {}, "cpu": {}, "odd": {}})
    assert problem.choose_workloads(tuple(both.workloads), (), "cpu", "p") == ["cpu"]
    assert problem.choose_workloads(tuple(both.workloads), (), "cuda", "p") == ["default"]
    assert problem.choose_workloads(tuple(both.workloads), ("all",), "cuda", "p") == ["default", "cpu", "odd"]
    assert problem.choose_workloads(tuple(both.workloads), ("odd", "odd"), "cuda", "p") == ["odd"]
    assert problem.choose_workloads((), (), "cpu", "p") == ["default"]
    with pytest.raises(UsageFault, match="nearest is 'odd'"):
        problem.choose_workloads(tuple(both.workloads), ("od",), "cpu", "p")
