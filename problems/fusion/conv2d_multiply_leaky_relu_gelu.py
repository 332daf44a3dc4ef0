"""A convolution scaled by one learned factor per channel, then LeakyReLU, then GELU.

The tail is three elementwise passes over the convolution's output; one pass can do them all.
"""

import torch
from torch import nn
from torch.nn import functional as F

batch_size = 64
in_channels = 64
out_channels = 64
height, width = 128, 128
kernel_size = 3
multiplier_shape = (out_channels, 1, 1)

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch_size=2, in_channels=8, out_channels=16, height=48, width=48),
        "odd": dict(batch_size=3, in_channels=5, out_channels=7, height=61, width=127),
    },
    # GELU by its tanh formula differs from the exact one by up to 5e-4, and counts as GELU here.
    atol=1e-3,
    rtol=1e-3,
    norm_tol=1e-3,
    tags=["fusion", "convolution"],
)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.leaky_relu = nn.LeakyReLU()

    def forward(self, x):
        x = self.conv(x)
        x = x * self.multiplier
        x = self.leaky_relu(x)
        return F.gelu(x)


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, multiplier_shape]
