"""Keeps the running statistics itself.

Twin of 47. Problem: batch_norm.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x):
        mean, variance = x.mean(0), x.var(0, unbiased=False)
        with torch.no_grad():
            norm, unbiased = self.norm, variance * x.shape[0] / (x.shape[0] - 1)
            norm.running_mean.lerp_(mean, norm.momentum)
            norm.running_var.lerp_(unbiased, norm.momentum)
            norm.num_batches_tracked.add_(1)
        return (x - mean) * torch.rsqrt(variance + norm.eps) * norm.weight + norm.bias
