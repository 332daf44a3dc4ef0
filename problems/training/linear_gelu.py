"""A linear layer and GELU, forward and backward.

Three products, between which GELU and its derivative are passes over memory unless they are epilogues; the input of
GELU is kept or computed again.
"""

import torch
from torch import nn

rows, width, features = 4096, 1024, 2048

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=64, width=128, features=256),
        "odd": dict(rows=131, width=333, features=257),
    },
    grad=True,
    flops=6 * rows * width * features,
    tags=["training", "product"],
)


class Model(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features)

    def forward(self, x):
        return nn.functional.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, features]
