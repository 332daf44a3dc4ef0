from __future__ import annotations

import pytest
import torch
from kbench.referee import nest

NAN = float("nan")
COMPLEX = torch.tensor([complex(1, 2)])


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        (torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN]), True),
        (torch.tensor([1.0, NAN]), torch.tensor([NAN, 1.0]), False),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), False),
        (torch.tensor([complex(NAN, 1)]), torch.tensor([complex(NAN, 1)]), True),
        (COMPLEX, COMPLEX.conj(), False),
        (torch.ones(2).to(torch.float8_e4m3fn), torch.ones(2).to(torch.float8_e4m3fn), True),
        (torch.ones(2).to(torch.float8_e4m3fn), torch.zeros(2).to(torch.float8_e4m3fn), False),
    ],
)
def test_same_is_bit_by_bit_but_for_nan(left: torch.Tensor, right: torch.Tensor, alike: bool) -> None:
    assert nest.same(left, right) is alike


def test_a_copy_keeps_the_structure_and_shares_nothing() -> None:
    value = {"a": [torch.ones(2), 3], "b": (torch.zeros(1, requires_grad=True), None)}
    copy = nest.cloned(value)
    copy["a"][0].zero_()
    assert value["a"][0].sum() == 2 and copy["a"][1] == 3  # type: ignore[index]
    assert isinstance(copy["b"], tuple) and not copy["b"][0].requires_grad and copy["b"][1] is None


def test_what_is_no_float_is_not_widened() -> None:
    wide = nest.widened_inputs([torch.ones(1), torch.ones(1, dtype=torch.int32), COMPLEX])
    assert [one.dtype for one in wide] == [torch.float64, torch.int32, torch.complex128]
    assert nest.keys({"a": [{"b": 1}], 2: ()}) == ["a", 2, "b"] and nest.leaf_values([1, {"x": (2,)}]) == [1, 2]
