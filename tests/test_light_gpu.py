"""Light against full builds of CUDA solutions: the same device code, the same bits. Run with `pytest -m gpu`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import building
import pytest
import sass
import torch

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[building.Local]:
    cache = tmp_path_factory.mktemp("cache")
    started = building.start(cache)
    started.arch_list = building.arch()
    building.full_in_parallel(cache, building.BUNDLED)
    yield started
    started.channel.close()


@pytest.mark.parametrize("solution", building.BUNDLED, ids=lambda path: path.parent.name)
def test_light_and_full_make_the_same_device_code_and_the_same_bits(solution: Path, local: building.Local) -> None:
    made = {}
    for mode in ("light", "full"):
        model, _, outcomes = building.made(local, solution, mode)  # type: ignore[arg-type]
        assert {outcome.path for outcome in outcomes} == {mode}
        kernels = sorted((k.registers, k.spill_stores_bytes, k.shared_bytes) for o in outcomes for k in o.kernels)
        made[mode] = (building.outputs(model, solution), [sass.functions(a) for a in local.artifacts], kernels)
    assert made["light"][1] == made["full"][1]
    assert made["light"][1][0], "no device code found"
    assert made["light"][2] == made["full"][2]
    pairs = list(zip(made["light"][0], made["full"][0], strict=True))
    assert pairs
    assert all(torch.equal(a, b) for a, b in pairs)
