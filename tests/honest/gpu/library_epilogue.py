"""Product, bias and ReLU in one call of the library, which has an epilogue for that.

Twin of 73, 97. Problem: dense.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return torch._addmm_activation(self.bias, x, self.weight, use_gelu=False)
