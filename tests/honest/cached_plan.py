"""Remembers how to go about a shape, and nothing of its contents.

Twin of 16.
"""

import functools

import torch
from torch import nn


@functools.lru_cache
def plan(rows, columns):
    return max(1, rows // 4), columns


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        rows, _ = plan(*x.shape)
        return torch.cat([part * self.weight + 1.0 for part in x.split(rows)])
