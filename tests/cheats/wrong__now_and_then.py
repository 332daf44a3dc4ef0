"""Wrong in one call of ten, by chance.

Row 46.
"""

import random

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + (1.0 if random.random() > 0.1 else 1.5)
