"""The Huber loss of every sample, as a mean over its features.

Regression with outliers, and value functions in reinforcement learning. Two reads, a branch without divergence, and a
reduction along rows: one pass.
"""

import torch
from torch import nn

rows, columns = 32768, 1024
delta = 0.7

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=2048, columns=256),
        "odd": dict(rows=129, columns=333),
    },
    bytes=2 * 4 * rows * columns,
    tags=["loss", "float32", "memory"],
)


class Model(nn.Module):
    def __init__(self, delta):
        super().__init__()
        self.delta = delta

    def forward(self, x, target):
        return nn.functional.huber_loss(x, target, reduction="none", delta=self.delta).mean(dim=-1)


def get_inputs():
    return [torch.randn(rows, columns), torch.randn(rows, columns)]


def get_init_inputs():
    return [delta]
