"""Plain PyTorch with the channels innermost, which convolutions of many like better; both LeakyReLUs work in place."""

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
        layout = torch.channels_last_3d if x.shape[1] % 8 == 0 else torch.contiguous_format
        x = self.conv_transpose(x.to(memory_format=layout))
        x = F.leaky_relu(x, negative_slope=0.2, inplace=True)
        x = F.leaky_relu(x * self.multiplier, negative_slope=0.2, inplace=True)
        return F.max_pool3d(x, 2).contiguous()
