"""Groups as rows of a matrix, mean and variance in one call."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x):
        rows = x.reshape(x.shape[0], self.norm.num_groups, -1)
        variance, mean = torch.var_mean(rows, dim=-1, correction=0, keepdim=True)
        normal = ((rows - mean) * torch.rsqrt(variance + self.norm.eps)).view_as(x)
        return normal * self.norm.weight[:, None, None] + self.norm.bias[:, None, None]
