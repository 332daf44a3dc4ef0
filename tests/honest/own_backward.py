"""A backward pass written by hand.

Twin of 81. Problem: step.
"""

import torch
from torch import nn


class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        y = torch.tanh(x)
        context.save_for_backward(y)
        return y

    @staticmethod
    def backward(context, gradient):
        (y,) = context.saved_tensors
        return gradient * (1 - y * y)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return Tanh.apply(self.linear(x))
