"""A row of ones times the matrix: the library's product does the adding."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.new_ones(x.shape[0]) @ x
