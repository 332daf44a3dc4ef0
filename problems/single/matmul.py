"""The product of two square matrices in float32, with nothing below float32 inside.

The core of scientific code that cannot use tensor cores. A good solution tiles for registers and shared memory and
comes near the rate of the plain float32 units.
"""

import torch
from torch import nn

n = 4096

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(n=256),
        "odd": dict(n=129),
    },
    flops=2 * n**3,
    bytes=4 * 3 * n * n,
    precision="full",
    tags=["product", "float32"],
)


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(n, n), torch.randn(n, n)]


def get_init_inputs():
    return []
