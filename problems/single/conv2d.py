"""A 3x3 convolution in the middle of a residual network, float16.

The library chooses among implicit products and Winograd. A good solution works on channels-last tiles with tensor
cores, and does not write the unfolded input to memory.
"""

import torch
from torch import nn

batch, channels, height, width, filters = 64, 128, 56, 56, 128

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=1, channels=16, height=28, width=28, filters=16),
        "odd": dict(batch=3, channels=24, height=13, width=17, filters=40),
    },
    bytes=2 * batch * height * width * (channels + filters),
    tags=["convolution", "float16"],
)


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1, bias=False).half()

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width).half()]


def get_init_inputs():
    return [channels, filters]
