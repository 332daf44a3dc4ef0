"""Batch normalisation in training: statistics of the batch, the normalised output, and running statistics that are
updated.

Statistics run across the batch and all places, channels apart: two passes over the input at least, unless it fits
the cache, and buffers that are outputs as well.
"""

import torch
from torch import nn

batch, channels, height, width = 64, 128, 56, 56

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=16, channels=16, height=28, width=28),
        "odd": dict(batch=5, channels=19, height=31, width=45),
    },
    bytes=2 * 4 * batch * channels * height * width,
    tags=["normalisation", "memory"],
)


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width) * 1.5 + 0.4]


def get_init_inputs():
    return [channels]
