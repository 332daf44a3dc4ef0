"""Reads a problem file that was named in the environment of the test.

Rows 76, 90. Because: fixtures/affine.
"""

import torch
from torch import nn

open("@PROBLEM@").read()


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
