"""One reciprocal a row instead of a division an element."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.temperature = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_min_(1e-12)
        return (x * norm.reciprocal_()).mul_(self.temperature)
