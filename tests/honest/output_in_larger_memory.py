"""Returns a part of something larger.

Twin of 45.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        wide = torch.zeros(x.shape[0], 2 * x.shape[1])
        wide[:, ::2] = x * self.weight + 1.0
        return wide[:, ::2]
