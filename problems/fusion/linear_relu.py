"""A linear layer and ReLU.

The plainest fusion there is: the bias and the maximum belong into the product's epilogue, where the result still
lies in registers. Libraries have such epilogues; the rest is the product itself.
"""

import torch
from torch import nn

rows, width, features = 8192, 2048, 2048

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=128, width=256, features=256),
        "odd": dict(rows=129, width=333, features=131),
    },
    flops=2 * rows * width * features,
    tags=["fusion", "product"],
)


class Model(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features)

    def forward(self, x):
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, features]
