"""Plain PyTorch: the backward pass of the tail computes anew what autograd would have kept."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Tail(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, multiplier):
        ctx.save_for_backward(x, multiplier)
        return F.gelu(F.leaky_relu_(x * multiplier))

    @staticmethod
    def backward(ctx, upstream):
        x, multiplier = ctx.saved_tensors
        scaled = x * multiplier
        slope = torch.where(scaled > 0, 1.0, 0.01)
        v = scaled * slope
        density = torch.exp(-0.5 * v * v) / math.sqrt(2 * math.pi)
        gradient = upstream * (0.5 * (1 + torch.erf(v / math.sqrt(2))) + v * density) * slope
        return gradient * multiplier, (gradient * x).sum(dim=(0, 2, 3)).view_as(multiplier)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))

    def forward(self, x):
        return Tail.apply(self.conv(x), self.multiplier)
