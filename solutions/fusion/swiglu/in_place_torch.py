"""The product in the place of the activated gate."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        width = x.shape[-1] // 2
        return nn.functional.silu(x[..., :width]).mul_(x[..., width:])
