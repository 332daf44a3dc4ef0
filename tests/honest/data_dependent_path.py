"""A shorter way for inputs that allow it.

Twin of 37.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        if not bool((x < 0).any()):
            return x.abs() * self.weight + 1.0
        return x * self.weight + 1.0
