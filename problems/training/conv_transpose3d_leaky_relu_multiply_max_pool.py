"""A training step through a transposed 3-D convolution, LeakyReLU, a learned scale, LeakyReLU and max pooling.

Gradients of the input and of all parameters are checked and timed. Seven of eight values that the tail computes are
thrown away by the pooling: a fused tail never writes them, and its backward pass touches each window once.
"""

import torch
from torch import nn

batch_size = 16
in_channels = 16
out_channels = 32
depth, height, width = 16, 32, 32
kernel_size = 3
stride = 2
padding = 1
output_padding = 1
multiplier_shape = (out_channels, 1, 1, 1)

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch_size=2, in_channels=4, out_channels=8, depth=8, height=16, width=16),
        "odd": dict(batch_size=3, in_channels=5, out_channels=13, depth=7, height=9, width=11, output_padding=0),
    },
    grad=True,
    atol=1e-3,
    rtol=1e-3,
    norm_tol=1e-3,
    tags=["training", "convolution", "pooling"],
)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
        )
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.leaky_relu = nn.LeakyReLU(negative_slope=0.2)
        self.max_pool = nn.MaxPool3d(kernel_size=2)

    def forward(self, x):
        x = self.conv_transpose(x)
        x = self.leaky_relu(x)
        x = x * self.multiplier
        x = self.leaky_relu(x)
        return self.max_pool(x)


def get_inputs():
    return [torch.randn(batch_size, in_channels, depth, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier_shape]
