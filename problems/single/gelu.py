"""GELU by its exact formula on a large tensor.

The plainest elementwise work: one read, one write, an error function between them. Whoever gets this to the device's
bandwidth knows how to load and store.
"""

import torch
from torch import nn

count = 1 << 27

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(count=1 << 18),
        "odd": dict(count=100003),
    },
    bytes=2 * 4 * count,
    tags=["elementwise", "float32", "memory"],
)


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.gelu(x)


def get_inputs():
    return [torch.randn(count)]


def get_init_inputs():
    return []
