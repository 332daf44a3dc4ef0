"""Group normalisation of images.

In diffusion models and detectors, where batches are small. A group is a contiguous piece of memory: a good solution
gives it to one block, or to a cluster of them, and does not go to memory between statistics and output.
"""

import torch
from torch import nn

batch, channels, height, width, groups = 32, 256, 64, 64, 32

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=8, channels=64, height=32, width=32, groups=8),
        "odd": dict(batch=5, channels=33, height=31, width=57, groups=11),
    },
    bytes=2 * 4 * batch * channels * height * width,
    tags=["normalisation", "float32", "memory"],
)


class Model(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width) + 0.3]


def get_init_inputs():
    return [groups, channels]
