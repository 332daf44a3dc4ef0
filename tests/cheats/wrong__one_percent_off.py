"""One element of a hundred is left out.

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
        y.view(-1)[::100] = 1.0
        return y
