"""Scores that are scaled and masked, then softmax, in float16.

Attention as it was before it was fused whole. A mask of one byte an element, a score of two; unfused there are three
passes over the scores.
"""

import torch
from torch import nn

batch, heads, queries, keys = 8, 16, 1024, 1024
scale = 0.125

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=1, heads=2, queries=128, keys=256),
        "odd": dict(batch=3, heads=5, queries=77, keys=333),
    },
    bytes=2 * 2 * batch * heads * queries * keys,
    tags=["fusion", "attention", "float16", "memory"],
)


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, mask):
        wide = scores.float() if scores.dtype == torch.float16 else scores
        return torch.softmax((wide * self.scale).masked_fill(mask, -1e4), dim=-1).to(scores.dtype)


def get_inputs():
    return [
        (torch.randn(batch, heads, queries, keys) * 8).half(),
        torch.rand(batch, 1, queries, keys) < 0.3,
    ]


def get_init_inputs():
    return [scale]
