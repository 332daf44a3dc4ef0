from __future__ import annotations

import math

import pytest
import torch
from kbench import tree
from kbench.tree import Nest, Other, Plain, TensorSpec

NESTED = [torch.zeros(2, 3), {"mask": None, "n": 3}, (1.5, True, "mode")]


def test_a_nest_comes_back_as_it_was() -> None:
    skeleton = tree.describe(NESTED)
    again = tree.rebuild(skeleton, iter(tree.tensors(NESTED)))
    assert again[0] is NESTED[0]
    assert again[1:] == NESTED[1:]
    assert isinstance(again, list) and isinstance(again[2], tuple)


def test_lists_and_tuples_are_not_the_same() -> None:
    assert tree.describe([1]) != tree.describe((1,))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 2**70])
def test_numbers_that_json_lacks(value: float) -> None:
    again = tree.rebuild(tree.describe(value), iter(()))
    assert again == float(value) or math.isnan(again)


def test_names_of_leaves() -> None:
    assert tree.names(tree.describe(NESTED)) == [
        "output[0]",
        "output[1]['mask']",
        "output[1]['n']",
        "output[2][0]",
        "output[2][1]",
        "output[2][2]",
    ]


def test_strides_are_told_only_where_they_can_be_rebuilt() -> None:
    dense = torch.zeros(4, 6).t()
    expanded = torch.zeros(4, 1).expand(4, 6)
    assert tree.describe_tensor(dense, strides=True).stride == (1, 6)
    assert tree.describe_tensor(expanded, strides=True).stride is None
    assert tree.describe_tensor(dense) == tree.describe_tensor(torch.zeros(6, 4))


def test_what_is_neither_tensor_nor_plain_is_told_by_its_type() -> None:
    assert tree.describe(object()) == Other(kind="object")
    assert isinstance(tree.describe(torch.zeros(2, 2).to_sparse()), Other)
    with pytest.raises(TypeError):
        tree.rebuild(Other(kind="object"), iter(()))


def test_room_for_tensors_whose_length_varies() -> None:
    seen = [tree.describe([torch.zeros(n), torch.zeros(3)]) for n in (5, 9, 2)]
    roomy = tree.roomier(seen)
    assert isinstance(roomy, Nest)
    assert roomy.children[0] == TensorSpec(shape=(2 * 9 + 1024,), dtype="float32")
    assert roomy.children[1] == TensorSpec(shape=(3,), dtype="float32")


def test_booleans_are_not_integers() -> None:
    assert tree.describe(True) == Plain(value=True, kind="bool")
    assert tree.describe(1) == Plain(value=1, kind="int")


@pytest.mark.parametrize(
    ("output", "fits"),
    [
        (tree.TensorSpec(shape=(2, 3), dtype="float32"), True),
        (tree.TensorSpec(shape=(7,), dtype="float32"), False),
        (tree.TensorSpec(shape=(2, 3), dtype="float64"), False),
        (tree.TensorSpec(shape=(2, 3), dtype="float32", device="cuda"), False),
        (tree.Plain(value=1, kind="int"), True),
    ],
)
def test_outputs_fit_by_type_device_and_size(output: tree.Skeleton, fits: bool) -> None:
    assert tree.fits(output, [torch.empty(6)]) is fits
    both = tree.Nest(kind="list", children=(output, output))
    assert tree.fits(both, [torch.empty(6)]) is (fits and isinstance(output, tree.Plain))
