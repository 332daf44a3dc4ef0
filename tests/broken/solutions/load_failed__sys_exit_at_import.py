"""Raises SystemExit while it is imported."""

import sys

import torch
from torch import nn

sys.exit(0)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
