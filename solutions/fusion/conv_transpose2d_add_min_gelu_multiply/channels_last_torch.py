"""Plain PyTorch with the channels innermost, which convolutions of many like better; the tail works in place."""

import torch
from torch import nn
from torch.nn import functional as F


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, add_value, multiply_value):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride)
        self.add_value = add_value
        self.multiply_value = multiply_value

    def forward(self, x):
        layout = torch.channels_last if x.shape[1] % 8 == 0 else torch.contiguous_format
        x = self.conv_transpose(x.to(memory_format=layout))
        x = x.add_(self.add_value).clamp_(max=0.0)
        return F.gelu(x).mul_(self.multiply_value).contiguous()
