"""A whole sort, of which the beginning is kept: far more work than is asked for."""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        return x.sort(dim=-1, descending=True)[0][:, : self.k].contiguous()
