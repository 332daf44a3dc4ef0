"""SiLU in the place of the normalised values."""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels).half()

    def forward(self, x):
        return nn.functional.silu(self.norm(x), inplace=True)
