"""The library's convolution on channels-last memory, which tensor cores want."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1, bias=False).half()

    def forward(self, x):
        weight = self.conv.weight.contiguous(memory_format=torch.channels_last)
        return nn.functional.conv2d(x.contiguous(memory_format=torch.channels_last), weight, padding=1)
