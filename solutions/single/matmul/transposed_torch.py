"""The product by way of its transpose: the library may find another kernel for it."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return (b.t() @ a.t()).t()
