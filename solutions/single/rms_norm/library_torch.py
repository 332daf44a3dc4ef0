"""The library's own root-mean-square normalisation."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns).bfloat16())
        self.epsilon = epsilon

    def forward(self, x):
        return nn.functional.rms_norm(x, self.weight.shape, None, self.epsilon) * self.weight
