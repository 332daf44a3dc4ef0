"""Sums within blocks, then what came before each block is added to all of it."""

from torch import nn

BLOCK = 256


class ModelNew(nn.Module):
    def forward(self, x):
        length = x.shape[-1]
        padded = nn.functional.pad(x, (0, -length % BLOCK))
        inner = padded.view(x.shape[0], -1, BLOCK).cumsum(dim=-1)
        before = inner[..., -1].cumsum(dim=-1) - inner[..., -1]
        return (inner + before[..., None]).flatten(1)[:, :length]
