"""Many small products at once, in float32.

Attention without fusion, and capsule or graph layers, do this. The library launches one grid for all; for small
matrices a good solution gives each warp a whole product and keeps it in registers.
"""

import torch
from torch import nn

batch, n = 2048, 128

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=32, n=64),
        "odd": dict(batch=37, n=77),
    },
    flops=2 * batch * n**3,
    bytes=4 * 3 * batch * n * n,
    tags=["product", "float32"],
)


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(batch, n, n), torch.randn(batch, n, n)]


def get_init_inputs():
    return []
