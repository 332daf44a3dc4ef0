"""Returns a tensor of a class of its own.

Twin of 64.
"""

import torch
from torch import nn


class Named(torch.Tensor):
    """A tensor with a name."""


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return (x * self.weight.detach() + 1.0).as_subclass(Named)
