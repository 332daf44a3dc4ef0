"""A causal depthwise convolution of width four, in bfloat16.

In front of the scan of state-space models. There is almost no arithmetic: a good solution reads a sequence once, and
keeps the last three values in registers.
"""

import torch
from torch import nn

batch, channels, length, width = 16, 4096, 2048, 4

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=1, channels=64, length=512),
        "odd": dict(batch=3, channels=129, length=333),
    },
    bytes=2 * 2 * batch * channels * length,
    tags=["convolution", "bfloat16", "memory"],
)


class Model(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, width, groups=channels, padding=width - 1).bfloat16()

    def forward(self, x):
        return self.conv(x)[..., : x.shape[-1]]


def get_inputs():
    return [torch.randn(batch, channels, length).bfloat16()]


def get_init_inputs():
    return [channels, width]
