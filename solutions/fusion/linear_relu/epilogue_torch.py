"""The library's product with bias and ReLU in its epilogue."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features)

    def forward(self, x):
        return torch._addmm_activation(self.linear.bias, x, self.linear.weight.t())
