"""The sum, and the library's normalisation of it by function."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x, residual):
        total = torch.add(x, residual)
        return nn.functional.layer_norm(total, total.shape[-1:], self.norm.weight, self.norm.bias), total
