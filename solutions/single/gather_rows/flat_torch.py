"""Places in the whole tensor, and one selection from a flat view."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x, index):
        rows = torch.arange(x.shape[0], device=x.device)[:, None] * x.shape[1]
        return x.view(-1).take(rows + index)
