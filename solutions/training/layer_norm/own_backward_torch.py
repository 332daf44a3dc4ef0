"""A backward pass of its own, which keeps the normalised rows and sums columns by a product."""

import torch
from torch import nn


class Normalise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, epsilon):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        scale = torch.rsqrt(variance + epsilon)
        normal = (x - mean) * scale
        ctx.save_for_backward(normal, scale, weight)
        return torch.addcmul(bias, normal, weight)

    @staticmethod
    def backward(ctx, grad):
        normal, scale, weight = ctx.saved_tensors
        inner = grad * weight
        along = (inner * normal).mean(dim=-1, keepdim=True)
        to_x = (inner - inner.mean(dim=-1, keepdim=True) - normal * along) * scale
        return to_x, (grad * normal).sum(dim=0), grad.sum(dim=0), None


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x):
        return Normalise.apply(x, self.norm.weight, self.norm.bias, self.norm.eps)
