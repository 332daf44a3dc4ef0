"""A gated linear unit: SiLU of one half of a row times the other half, in bfloat16.

Between the two products of a recent language model's feed-forward layer. Two reads and a write for each output; eager
execution takes twice that and keeps the SiLU.
"""

import torch
from torch import nn

rows, width = 16384, 8192

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=512, width=1024),
        "odd": dict(rows=129, width=333),
    },
    bytes=3 * 2 * rows * width,
    tags=["fusion", "gate", "bfloat16", "memory"],
)


class Model(nn.Module):
    def forward(self, x):
        gate, value = x.chunk(2, dim=-1)
        return nn.functional.silu(gate) * value


def get_inputs():
    return [torch.randn(rows, 2 * width).bfloat16()]


def get_init_inputs():
    return []
