"""Causal attention in which several heads of queries share one head of keys and values.

Most recent language models do this, for the sake of their caches. Written out, keys and values are repeated in
memory; a good solution reads each of them once for its whole group.
"""

import torch
from torch import nn

batch, heads, groups, length, width = 4, 32, 8, 2048, 128

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=1, heads=4, groups=2, length=128, width=64),
        "odd": dict(batch=2, heads=6, groups=3, length=133, width=72),
    },
    flops=2 * batch * heads * length * length * width,
    tags=["attention", "float16"],
)


class Model(nn.Module):
    def forward(self, query, key, value):
        repeats = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
        return nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def get_inputs():
    return [
        torch.randn(batch, heads, length, width).half(),
        torch.randn(batch, groups, length, width).half(),
        torch.randn(batch, groups, length, width).half(),
    ]


def get_init_inputs():
    return []
