"""The first output is right.

Row 45. Problem: two_outputs. Because: output[1].
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        factor = x.abs().amax(dim=-1, keepdim=True)
        return x / factor, torch.ones_like(factor)
