"""Mean and variance in one call, then one multiplication and one addition."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        scale = torch.rsqrt(variance + self.norm.eps)
        return torch.addcmul(self.norm.bias, (x - mean).mul_(scale), self.norm.weight)
