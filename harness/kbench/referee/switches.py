"""Switches of torch that hold for the whole process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from kbench.records import Record


class Switches(Record, frozen=True):
    """Process-wide settings that a problem file may change."""

    dtype: Any
    grad: bool
    threads: int
    deterministic: bool
    precision: str
    cudnn: tuple[bool, bool, bool]

    @classmethod
    def now(cls) -> Switches:
        cudnn = torch.backends.cudnn
        return cls(
            dtype=torch.get_default_dtype(),
            grad=torch.is_grad_enabled(),
            threads=torch.get_num_threads(),
            deterministic=torch.are_deterministic_algorithms_enabled(),
            precision=torch.get_float32_matmul_precision(),
            cudnn=(cudnn.allow_tf32, cudnn.benchmark, cudnn.deterministic),
        )

    def restore(self) -> None:
        torch.set_default_dtype(self.dtype)
        torch.set_grad_enabled(self.grad)
        torch.set_num_threads(self.threads)
        if torch.are_deterministic_algorithms_enabled() != self.deterministic:
            torch.use_deterministic_algorithms(self.deterministic)  # imports the whole of inductor
        torch.set_float32_matmul_precision(self.precision)
        own = torch.backends.cudnn
        own.allow_tf32, own.benchmark, own.deterministic = self.cudnn


@contextlib.contextmanager
def put_back() -> Iterator[None]:
    """Puts back the settings that a problem file changed: the next one must not run under them."""
    before = Switches.now()
    try:
        yield
    finally:
        before.restore()


@contextlib.contextmanager
def exact_products() -> Iterator[None]:
    """TF32 off."""
    matmul, cudnn = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = matmul, cudnn
