"""Root-mean-square normalisation in bfloat16, with a learned scale.

What layer normalisation became in recent language models. The sum of squares is taken in float32; the work is memory
traffic, and a good solution reads and writes each element once, eight at a time.
"""

import torch
from torch import nn

rows, columns = 16384, 4096
epsilon = 1e-5

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=512, columns=1024),
        "odd": dict(rows=131, columns=1111),
    },
    bytes=2 * 2 * rows * columns,
    tags=["normalisation", "bfloat16", "memory"],
)


class Model(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns).bfloat16())
        self.epsilon = epsilon

    def forward(self, x):
        wide = x.float() if x.dtype == torch.bfloat16 else x
        scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + self.epsilon)
        return (wide * scale).to(x.dtype) * self.weight


def get_inputs():
    return [torch.randn(rows, columns).bfloat16()]


def get_init_inputs():
    return [columns, epsilon]
