from __future__ import annotations

import pytest
import torch
from kbench import tree
from kbench.referee.structure import LONGEST, difference
from kbench.tree import TensorSpec

X = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("expected", "got", "says"),
    [
        (X, None, "output is None, expected a tensor"),
        (X, X[:1], "output has shape [1, 3], expected [2, 3]"),
        (X, X.half(), "output is float16, expected float32"),
        (X, X.to("meta"), "output is on meta, expected cpu"),
        (X, (X,), "output is a tuple of 1, expected a tensor"),
        ((X, X), [X, X], "output is a list of 2, expected a tuple of 2"),
        ((X, X), (X,), "output is a tuple of 1, expected 2"),
        ({"a": X}, {"b": X}, "output has keys ['b'], expected ['a']"),
        ([X, {"a": X}], [X, {"a": X.double()}], "output[1]['a'] is float64, expected float32"),
        (3, 4, "output is 4, expected 3"),
        (3, 3.0, "output is the float 3.0, expected the int 3"),
        (X, object(), "output is a object, expected a tensor"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_difference(expected: object, got: object, says: str) -> None:
    assert difference(tree.describe({"output": expected}), tree.describe({"output": got}), "result") == says


def test_equal_structures_do_not_differ() -> None:
    assert difference(tree.describe([X, 1]), tree.describe([X + 1, 1])) is None


def test_a_shape_as_long_as_a_book_is_cut() -> None:
    endless = TensorSpec(shape=(1,) * 10**6, dtype="float32")
    assert len(difference(tree.describe(X), endless) or "") == LONGEST
