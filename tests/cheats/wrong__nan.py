"""One NaN.

Rows 30, 44. Because: it is nan.
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
        y[3, 5] = float("nan")
        return y
