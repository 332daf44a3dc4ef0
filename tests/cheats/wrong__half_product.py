"""A float32 product by way of float16.

Row 42. Problem: linear_full.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return (x.half() @ self.linear.weight.half().mT).float() + self.linear.bias
