"""The product of two bfloat16 matrices of the shapes of a transformer's projection.

Most of the time of training and prefill goes here. A good solution keeps the tensor cores busy: asynchronous copies
into swizzled shared memory, warp-group instructions, a pipeline of several stages.
"""

import torch
from torch import nn

rows, inner, columns = 8192, 4096, 4096

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=128, inner=256, columns=256),
        "odd": dict(rows=131, inner=333, columns=131),
    },
    flops=2 * rows * inner * columns,
    bytes=2 * (rows * inner + inner * columns + rows * columns),
    tags=["product", "bfloat16"],
)


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [
        torch.randn(rows, inner).bfloat16(),
        torch.randn(inner, columns).bfloat16() / inner**0.5,
    ]


def get_init_inputs():
    return []
