"""Multiplication and a sum along rows: a pass more over memory than the library's product."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, matrix, vector):
        return (matrix * vector).sum(dim=1)
