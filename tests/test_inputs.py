from __future__ import annotations

import pytest
import torch
from kbench.referee import inputs


def derived(tensor: torch.Tensor, how: str = "fresh", count: int = 4, seed: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return inputs.derive(inputs.recipes([tensor], how), count, generator)[0]  # type: ignore[arg-type]


def test_floats_are_fresh_in_every_slot_and_stay_in_range() -> None:
    tensor = torch.rand(32, 16)
    stack = derived(tensor)
    assert stack.shape == (4, 32, 16)
    assert not any(torch.equal(stack[a], stack[b]) for a in range(4) for b in range(a))
    assert stack.min() >= 0 and stack.max() <= 1


def test_zeros_stay_zeros_in_number() -> None:
    tensor = torch.rand(8, 8).tril()
    assert (derived(tensor)[0] == 0).sum() == (tensor == 0).sum()


def test_indices_stay_in_their_range_and_order_is_kept() -> None:
    labels = torch.tensor([3, 9, 3, 5, 8, 4])
    stack = derived(labels)
    assert stack.min() >= 3 and stack.max() <= 9 and stack.dtype == torch.int64
    offsets = torch.tensor([0, 3, 7, 12])
    assert torch.equal(derived(offsets)[1], offsets)
    permutation = torch.tensor([2, 0, 1, 3])
    assert torch.equal(derived(permutation)[0], permutation)


def test_symmetric_matrices_stay_symmetric() -> None:
    half = torch.randn(6, 6)
    matrix = half + half.T
    stack = derived(matrix)
    assert all(torch.equal(one, one.T) for one in stack)
    assert not torch.equal(stack[0], stack[1])


def test_masks_stay_masks() -> None:
    mask = torch.rand(16, 4) > 0.5
    assert derived(mask).sum() == 4 * mask.sum()
    assert set(derived(mask.float()).unique().tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("shape", [(), (1,), (0, 3)])
def test_scalars_and_empty_tensors(shape: tuple[int, ...]) -> None:
    assert derived(torch.rand(shape)).shape == (4, *shape)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_types_are_kept(dtype: torch.dtype) -> None:
    assert derived(torch.randn(8, 8).to(dtype)).dtype == dtype


def test_the_same_seed_gives_the_same_contents_and_another_others() -> None:
    tensor = torch.randn(8, 8)
    assert torch.equal(derived(tensor, seed=1), derived(tensor, seed=1))
    assert not torch.equal(derived(tensor, seed=1), derived(tensor, seed=2))


def test_transforms_change_whole_floats_and_nothing_else() -> None:
    values, labels, mask = torch.randn(4), torch.arange(4), torch.tensor([0.0, 1.0, 1.0])
    sign = transformed([values, labels, mask], "sign")
    assert torch.equal(sign[0], -values) and sign[1] is labels and sign[2] is mask
    assert torch.equal(transformed([values], "scale")[0], values * inputs.SCALE)
    assert torch.equal(transformed([values], "large")[0], values * inputs.LARGE)


def transformed(tensors: list[torch.Tensor], name: str, seed: int = 1) -> list[torch.Tensor]:
    return inputs.transformed(tensors, name, torch.Generator().manual_seed(seed))


def test_one_element_changes_anywhere_and_stays_in_range() -> None:
    values, places = torch.rand(16, 16).T, set()
    for seed in range(20):
        (changed,) = transformed([values], "one", seed)
        (place,) = (changed != values).reshape(-1).nonzero().flatten().tolist()
        places.add(place)
        assert changed.max() <= values.max() and changed.min() >= values.min()
    assert len(places) > 10


def test_normal_values_have_the_same_mean_and_spread() -> None:
    values = torch.rand(4096) + 3
    (changed,) = transformed([values], "normal")
    assert float(changed.mean()) == pytest.approx(3.5, abs=0.05)
    assert float(changed.std()) == pytest.approx(float(values.std()), rel=0.1)
    triangle = torch.randn(8, 8).tril()
    assert transformed([triangle], "normal")[0] is triangle


def test_ties_are_near_the_values_and_few() -> None:
    values = torch.randn(4096)
    (changed,) = transformed([values], "ties")
    assert len(changed.unique()) < 50 and (changed - values).abs().max() < 0.2
    assert transformed([torch.full((8,), 0.3)], "ties")[0].isfinite().all()


def test_triangles_bins_and_strange_types_keep_their_structure() -> None:
    triangle = torch.randn(8, 8).tril()
    assert all(torch.equal(one, one.tril()) for one in derived(triangle))
    bins = torch.randn(16).sort().values
    assert all(bool((one[1:] >= one[:-1]).all()) for one in derived(bins))
    largest = torch.tensor([0, 2**63 - 1, 5])
    assert torch.equal(derived(largest)[1], largest)
    for name in ("float8_e4m3fn", "float8_e8m0fnu", "uint16"):
        if hasattr(torch, name):
            assert derived(torch.ones(4).to(getattr(torch, name))).dtype == getattr(torch, name)
