"""Plain PyTorch: each window's largest and smallest value go through the tail, not all eight of them.

LeakyReLU rises, and so does the tail where the channel's factor is positive; where it is negative the tail falls.
"""

import torch
from torch import nn
from torch.nn import functional as F


class ModelNew(nn.Module):
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

    def forward(self, x):
        x = self.conv_transpose(x)
        sign = torch.where(self.multiplier.detach() < 0, -1.0, 1.0)
        x = F.max_pool3d(x * sign, 2) * sign
        x = F.leaky_relu(x, negative_slope=0.2)
        return F.leaky_relu(x * self.multiplier, negative_slope=0.2, inplace=True)
