"""Shifted copies of the input, each times its weight, added up in float32."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, width, groups=channels, padding=width - 1).bfloat16()

    def forward(self, x):
        weight = self.conv.weight.float()
        width = weight.shape[-1]
        padded = nn.functional.pad(x, (width - 1, 0)).float()
        total = self.conv.bias.float()[:, None].expand(x.shape)
        for place in range(width):
            total = torch.addcmul(total, padded[..., place : place + x.shape[-1]], weight[:, :, place])
        return total.to(x.dtype)
