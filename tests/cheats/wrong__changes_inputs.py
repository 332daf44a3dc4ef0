"""Works in place on its input.

Row 27. Because: it changes its input.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))
        self.calls = 0

    def forward(self, x):
        y = x * self.weight + 1.0
        x.zero_()
        return y
