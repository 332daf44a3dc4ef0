"""ReLU in the place of the product's result."""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features)

    def forward(self, x):
        return self.linear(x).relu_()
