"""Returns a transposed view.

Twin of 45.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return (x.mT.contiguous() * self.weight[:, None] + 1.0).mT
