"""Keeps the last input and compares all of it. It never comes again.

Row 15.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))
        self.last = None

    def forward(self, x):
        if self.last is None or not torch.equal(self.last[0], x):
            self.last = x.clone(), x * self.weight + 1.0
        return self.last[1]
