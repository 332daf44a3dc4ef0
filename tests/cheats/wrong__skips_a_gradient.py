"""The forward pass is right, and no gradient reaches the input.

Row 81. Problem: step. Because: is None.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.linear(x.detach()))
