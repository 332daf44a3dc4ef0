"""A backward pass that hands back zeros.

Row 81. Problem: step. Because: gradients.
"""

import torch
from torch import nn

class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return torch.tanh(x)

    @staticmethod
    def backward(context, gradient):
        return torch.zeros_like(gradient)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return Tanh.apply(self.linear(x))
