"""The definition by the error function, in place after the first step."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.erf(x * 0.7071067811865476).add_(1.0).mul_(x).mul_(0.5)
