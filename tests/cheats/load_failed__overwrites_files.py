"""Writes where it may not.

Row 89. Because: kbench-was-here.
"""

import pathlib

import torch
from torch import nn

pathlib.Path("/usr/kbench-was-here").write_text("x")


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
