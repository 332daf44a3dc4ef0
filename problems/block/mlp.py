"""The feed-forward layer of a recent language model in bfloat16: two products, a gate, a third product.

Two thirds of such a model's arithmetic. The gate belongs into the epilogue of the first products; the rest is to run
three large products as fast as one.
"""

import torch
from torch import nn

rows, width, hidden = 4096, 2048, 5632

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=32, width=128, hidden=352),
        "odd": dict(rows=131, width=333, hidden=333),
    },
    flops=6 * rows * width * hidden,
    tags=["product", "gate", "bfloat16"],
)


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False).bfloat16()
        self.up = nn.Linear(width, hidden, bias=False).bfloat16()
        self.down = nn.Linear(hidden, width, bias=False).bfloat16()

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


def get_inputs():
    return [torch.randn(rows, width).bfloat16()]


def get_init_inputs():
    return [width, hidden]
