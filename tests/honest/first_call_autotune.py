"""Tries two ways at its first call and keeps the faster.

Twin of 94.
"""

import time

import torch
from torch import nn


def one(x, weight):
    return x * weight + 1.0


def other(x, weight):
    return torch.addcmul(torch.ones_like(x), x, weight)


def seconds(way, x, weight):
    began = time.perf_counter()
    for _ in range(3):
        way(x, weight)
    return time.perf_counter() - began


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))
        self.best = None

    def forward(self, x):
        if self.best is None:
            self.best = min((one, other), key=lambda way: seconds(way, x, self.weight))
        return self.best(x, self.weight)
