"""Subtracts the largest value and divides in the end.

Twin of 33, 37. Problem: softmax.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        e = torch.exp(x - x.amax(dim=-1, keepdim=True))
        return e / e.sum(dim=-1, keepdim=True)
