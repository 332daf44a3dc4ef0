"""A copy into memory of the transposed shape."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        out = x.new_empty(x.shape[1], x.shape[0])
        out.copy_(x.t())
        return out
