"""A stable sort, which the library does by another algorithm on some devices."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.sort(x, dim=-1, stable=True)[0]
