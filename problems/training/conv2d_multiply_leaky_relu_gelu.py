"""A training step through a scaled convolution, LeakyReLU and GELU: forward and backward.

Gradients of the input and of all parameters are checked and timed. Autograd keeps every intermediate result of the
tail; a fused backward pass recomputes them from the convolution's output.
"""

import torch
from torch import nn
from torch.nn import functional as F

batch_size = 32
in_channels = 64
out_channels = 64
height, width = 128, 128
kernel_size = 3
multiplier_shape = (out_channels, 1, 1)

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch_size=2, in_channels=8, out_channels=16, height=48, width=48),
        "odd": dict(batch_size=7, in_channels=5, out_channels=13, height=61, width=127),
    },
    # GELU by its tanh formula differs from the exact one by up to 5e-4, and counts as GELU here.
    atol=1e-3,
    rtol=1e-3,
    norm_tol=2e-3,
    grad=True,
    tags=["training", "convolution"],
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
