"""A 3x3 convolution whose result is divided by a constant and passed through LeakyReLU.

The convolution is the library's; the tail is two elementwise passes over a large tensor that one pass can do.
"""

import torch
from torch import nn
from torch.nn import functional as F

batch_size = 128
in_channels = 8
out_channels = 64
height, width = 128, 128
kernel_size = 3
divisor = 2

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch_size=4, height=64, width=64, out_channels=32),
        "odd": dict(batch_size=7, height=61, width=127, out_channels=19),
    },
    # A compiled reference takes TF32 for the convolution, where the eager one does not.
    atol=1e-3,
    rtol=1e-3,
    norm_tol=1e-3,
    tags=["fusion", "convolution"],
)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.divisor = divisor

    def forward(self, x):
        x = self.conv(x)
        x = x / self.divisor
        return F.leaky_relu(x, negative_slope=0.01)


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, divisor]
