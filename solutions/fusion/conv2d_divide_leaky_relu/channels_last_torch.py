"""Plain PyTorch with the channels innermost, which some convolutions like better; the tail works in place.

In this layout cuDNN would take TF32, where it does not for the reference: with so few channels that is an error.
"""

import torch
from torch import nn
from torch.nn import functional as F


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.divisor = divisor

    def forward(self, x):
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            x = self.conv(x.to(memory_format=torch.channels_last))
        return F.leaky_relu_(x.div_(self.divisor), negative_slope=0.01).contiguous()
