"""Leaves the second output away.

Row 45. Problem: two_outputs. Because: is a tuple of 1.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return (x / x.abs().amax(dim=-1, keepdim=True),)
