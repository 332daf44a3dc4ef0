"""More precise than was asked.

Twin of 42. Problem: linear_full.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.nn.functional.linear(x.double(), self.linear.weight.double(), self.linear.bias.double()).float()
