"""Plain PyTorch with the channels innermost, which convolutions of many like better."""

import torch
from torch import nn
from torch.nn import functional as F


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))

    def forward(self, x):
        layout = torch.channels_last if x.shape[1] % 8 == 0 else torch.contiguous_format
        x = self.conv(x.to(memory_format=layout)) * self.multiplier
        return F.gelu(F.leaky_relu(x, inplace=True)).contiguous()
