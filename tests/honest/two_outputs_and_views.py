"""Outputs that share memory.

Twin of 45. Problem: two_outputs.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        both = torch.empty(x.shape[0], x.shape[1] + 1)
        both[:, -1] = x.abs().amax(dim=-1)
        torch.div(x, both[:, -1:], out=both[:, :-1])
        return both[:, :-1], both[:, -1:]
