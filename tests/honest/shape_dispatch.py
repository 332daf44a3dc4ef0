"""One way for few rows, another one for many.

Twin of 40. Problem: linear.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        if x.shape[0] < 16:
            return (x[:, None, :] * self.linear.weight).sum(-1) + self.linear.bias
        return torch.addmm(self.linear.bias, x, self.linear.weight.mT)
