"""A polynomial of degree nine in bfloat16, by Horner's rule.

Eager execution makes eighteen passes over memory of it. It stands for chains of elementwise work, of which one pass
and a few registers are enough.
"""

import torch
from torch import nn

count = 1 << 26
coefficients = (0.1, -0.3, 0.2, 0.5, -0.4, 0.3, 0.2, -0.6, 0.7, 0.1)

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(count=1 << 14),
        "odd": dict(count=30001),
    },
    bytes=2 * 2 * count,
    tags=["elementwise", "bfloat16", "memory"],
)


class Model(nn.Module):
    def __init__(self, coefficients):
        super().__init__()
        self.coefficients = coefficients

    def forward(self, x):
        wide = x.float() if x.dtype == torch.bfloat16 else x
        total = torch.zeros_like(wide)
        for coefficient in self.coefficients:
            total = total * wide + coefficient
        return total.to(x.dtype)


def get_inputs():
    return [torch.randn(count).clamp(-2, 2).bfloat16()]


def get_init_inputs():
    return [coefficients]
