"""Returns a parameter, as some wrappers do.

Twin of 64.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return nn.Parameter(x * self.weight + 1.0)
