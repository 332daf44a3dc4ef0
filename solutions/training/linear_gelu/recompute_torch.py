"""GELU's input is computed again in the backward pass by the library's own derivative."""

import torch
from torch import nn


class LinearGelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        inner = torch.addmm(bias, x, weight.t())
        ctx.save_for_backward(x, weight, inner)
        return nn.functional.gelu(inner)

    @staticmethod
    def backward(ctx, grad):
        x, weight, inner = ctx.saved_tensors
        inner_grad = torch.ops.aten.gelu_backward(grad, inner)
        return inner_grad @ weight, inner_grad.t() @ x, inner_grad.sum(dim=0)


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features)

    def forward(self, x):
        return LinearGelu.apply(x, self.linear.weight, self.linear.bias)
