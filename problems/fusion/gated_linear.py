"""A linear layer whose result is multiplied by the sigmoid of another one, on the same input.

Highway and gated networks. Both products read the same input: as one product of double width they read it once, and
the gate is an epilogue.
"""

import torch
from torch import nn

rows, width, features = 8192, 1024, 1024

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=128, width=256, features=256),
        "odd": dict(rows=129, width=333, features=257),
    },
    flops=4 * rows * width * features,
    tags=["fusion", "product", "gate"],
)


class Model(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.value = nn.Linear(width, features)
        self.gate = nn.Linear(width, features)

    def forward(self, x):
        return self.value(x) * torch.sigmoid(self.gate(x))


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, features]
