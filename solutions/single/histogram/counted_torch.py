"""Every row's values moved to a range of their own, and one count of them all."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, values):
        super().__init__()
        self.values = values

    def forward(self, x):
        first = torch.arange(x.shape[0], device=x.device)[:, None] * self.values
        moved = (x.long() + first).flatten()
        return torch.bincount(moved, minlength=x.shape[0] * self.values).view(x.shape[0], -1)
