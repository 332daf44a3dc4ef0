"""All rows but one.

Row 43.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        y = x * self.weight + 1.0
        y[-1] = 1.0
        return y
