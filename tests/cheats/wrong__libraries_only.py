"""Calls libraries for all of it, where kernels of its own are asked for.

Row 73. Because: policy.

Problem: own_kernel.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return torch.relu(torch.addmm(self.bias, x, self.weight))
