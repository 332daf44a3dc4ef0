"""Runs through torch.compile, with a back end that generates nothing.

Twin of 80.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))
        self.compiled = None

    def forward(self, x):
        if self.compiled is None:
            self.compiled = torch.compile(lambda x: x * self.weight.detach() + 1.0, backend="eager")
        return self.compiled(x)
