"""What a problem file switches for its process must not hold for the next one."""

from __future__ import annotations

import pytest
import torch
from kbench.referee.switches import Switches, exact_products, put_back


def test_all_that_was_switched_is_as_before_also_after_a_fault() -> None:
    before = Switches.now()
    with pytest.raises(RuntimeError), put_back():
        torch.set_default_dtype(torch.float16)
        torch.set_grad_enabled(False)
        torch.set_num_threads(before.threads + 1)
        torch.set_float32_matmul_precision("medium")
        torch.backends.cudnn.allow_tf32 = not before.cudnn[0]
        torch.backends.cudnn.benchmark = not before.cudnn[1]
        assert Switches.now() != before
        raise RuntimeError
    assert Switches.now() == before


def test_products_are_exact_for_a_while() -> None:
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32
    with put_back():
        matmul.allow_tf32 = cudnn.allow_tf32 = True
        with pytest.raises(RuntimeError), exact_products():
            assert not matmul.allow_tf32 and not cudnn.allow_tf32
            raise RuntimeError
        assert matmul.allow_tf32 and cudnn.allow_tf32
        matmul.allow_tf32, cudnn.allow_tf32 = before
