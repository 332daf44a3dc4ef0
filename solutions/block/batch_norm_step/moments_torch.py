"""Mean and variance in one call, running statistics by hand."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        norm = self.norm
        variance, mean = torch.var_mean(x, dim=(0, 2, 3), correction=0)
        count = x.numel() // x.shape[1]
        norm.running_mean.lerp_(mean, norm.momentum)
        norm.running_var.lerp_(variance * (count / (count - 1)), norm.momentum)
        norm.num_batches_tracked += 1
        scale = norm.weight * torch.rsqrt(variance + norm.eps)
        return x * scale[:, None, None] + (norm.bias - mean * scale)[:, None, None]
