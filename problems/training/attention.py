"""Attention forward and backward, without a mask.

The backward pass makes the scores again, tile by tile, and adds gradients of keys and values from all queries: five
products instead of two.
"""

import torch
from torch import nn

batch, heads, length, width = 4, 16, 1024, 64

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=1, heads=2, length=64, width=32),
        "odd": dict(batch=2, heads=3, length=133, width=40),
    },
    grad=True,
    flops=12 * batch * heads * length * length * width,
    tags=["training", "attention"],
)


class Model(nn.Module):
    def forward(self, query, key, value):
        return nn.functional.scaled_dot_product_attention(query, key, value)


def get_inputs():
    return [torch.randn(batch, heads, length, width) for _ in range(3)]


def get_init_inputs():
    return []
