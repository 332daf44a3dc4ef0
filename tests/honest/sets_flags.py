"""Asks torch for other settings, as one may.

Twin of 95.
"""

import torch
from torch import nn

torch.set_float32_matmul_precision("high")
torch.backends.cudnn.benchmark = True


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
