"""Takes a library where there is one.

Twin of 75.
"""

import torch
from torch import nn

try:
    from library_that_nobody_has import affine
except ImportError:
    affine = None


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        if affine is not None:
            return affine(x, self.weight)
        return torch.addcmul(torch.ones_like(x), x, self.weight)
