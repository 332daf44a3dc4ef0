"""A workspace, kept by shape and written to at every call.

Twin of 16, 24.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))
        self.spaces = {}

    def forward(self, x):
        space = self.spaces.setdefault(x.shape, torch.empty_like(x))
        torch.mul(x, self.weight.detach(), out=space)
        return space + 1.0
