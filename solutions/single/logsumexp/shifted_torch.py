"""The definition, with the maximum taken out first."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        highest = x.amax(dim=-1, keepdim=True).float()
        return (x - highest).exp().sum(dim=-1).log_() + highest[..., 0]
