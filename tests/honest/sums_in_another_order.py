"""Splits the sum of a product into parts, which rounds differently.

Twin of 42, 46. Problem: linear.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        weight = self.linear.weight.detach().mT
        parts = [left @ right for left, right in zip(x.split(128, dim=1), weight.split(128, dim=0))]
        return torch.stack(parts).sum(dim=0) + self.linear.bias
