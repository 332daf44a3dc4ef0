"""The library's root-mean-square normalisation of the sum."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns).bfloat16())
        self.epsilon = epsilon

    def forward(self, x, residual):
        total = x + residual
        return nn.functional.rms_norm(total, self.weight.shape, None, self.epsilon) * self.weight, total
