"""Tells of settings that it changed by the megabyte, which the result would hold.

Row 52. Because: of length.
"""

import torch
from torch import nn

import kbench.worker.subject as subject

subject._changes = lambda before: ("x" * 2**20,)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
