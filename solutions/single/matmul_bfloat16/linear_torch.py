"""The product as a linear layer with transposed weights, which is the layout that libraries like best."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return nn.functional.linear(a, b.t())
