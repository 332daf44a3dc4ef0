"""Behaves as in evaluation, with the running statistics.

Row 47. Problem: batch_norm.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.norm.eval()

    def forward(self, x):
        return self.norm(x)
