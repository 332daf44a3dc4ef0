"""Prints without end; that is no fault.

Row 87.
"""

import torch
from torch import nn

for _ in range(1000):
    print("x" * 1_000_000)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
