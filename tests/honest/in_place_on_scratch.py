"""Works in place on a copy of its own.

Twin of 27.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        y = x.clone()
        y.mul_(self.weight.detach())
        y.add_(1.0)
        return y
