"""A compiler of torch's own is asked for the kernel.

Row 80. Because: policy.

Problem: own_kernel.
"""

import torch
from torch import nn



@torch.jit.script
def tail(x, weight, bias):
    return torch.relu(x @ weight + bias)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return tail(x, self.weight, self.bias)
