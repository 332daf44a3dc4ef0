"""The gate of a feed-forward layer, forward and backward.

The derivative of SiLU needs the gate's input again; everything is elementwise, and one pass each way is enough.
"""

import torch
from torch import nn

rows, width = 16384, 4096

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=512, width=512),
        "odd": dict(rows=129, width=333),
    },
    grad=True,
    bytes=6 * 4 * rows * width,
    tags=["training", "gate", "memory"],
)


class Model(nn.Module):
    def forward(self, gate, value):
        return nn.functional.silu(gate) * value


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return []
