"""Layer normalisation forward and backward.

Gradients of scale and shift are sums over all rows, that of the input needs two sums along each row: fused, the
backward pass reads input and gradient once and adds up the columns on the way.
"""

import torch
from torch import nn

rows, columns = 32768, 2048

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=512, columns=512),
        "odd": dict(rows=129, columns=333),
    },
    grad=True,
    lint={"unmoved": "the gradient of the shift is the sum of the gradients that come in"},
    bytes=4 * 4 * rows * columns,
    tags=["training", "normalisation", "memory"],
)


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, columns) * 2 + 0.5]


def get_init_inputs():
    return [columns]
