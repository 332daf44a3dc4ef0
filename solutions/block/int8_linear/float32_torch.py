"""In float32, a piece of the inner dimension at a time that is short enough for exact sums, and the scales at the end."""

from torch import nn

PIECE = 512  # sums of so many products of eight bits stay below 2**23


class ModelNew(nn.Module):
    def forward(self, x, weight, x_scale, weight_scale):
        pieces = zip(x.split(PIECE, dim=1), weight.split(PIECE, dim=1), strict=True)
        total = sum((left.float() @ right.float().t()).double() for left, right in pieces)
        return (total * x_scale[:, None] * weight_scale).float()
