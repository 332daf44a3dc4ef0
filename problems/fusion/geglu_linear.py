"""One product that makes gate and value, then GELU of the gate times the value.

The feed-forward layer of several language and diffusion models. If the columns of gate and value are interleaved in
the weights, the epilogue of one tile has both at hand, and the double-width result never reaches memory.
"""

import torch
from torch import nn

rows, width, features = 4096, 2048, 4096

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=64, width=256, features=256),
        "odd": dict(rows=131, width=333, features=401),
    },
    flops=4 * rows * width * features,
    tags=["fusion", "product", "gate", "float16"],
)


class Model(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, 2 * features).half()

    def forward(self, x):
        gate, value = self.linear(x).chunk(2, dim=-1)
        return nn.functional.gelu(gate) * value


def get_inputs():
    return [torch.randn(rows, width).half()]


def get_init_inputs():
    return [width, features]
