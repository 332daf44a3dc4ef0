"""Without a branch: with c the difference cut off at delta, it is c times (the difference less half of c)."""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, delta):
        super().__init__()
        self.delta = delta

    def forward(self, x, target):
        far = (x - target).abs_()
        near = far.clamp(max=self.delta)
        return far.sub_(near, alpha=0.5).mul_(near).mean(dim=-1)
