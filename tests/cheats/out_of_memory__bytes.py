"""Takes what is left of its limit as Python objects, three gigabytes of them.

Row 87. Because: MemoryError.
"""

import resource

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        # Reserved but never touched, so that the test need not touch sixteen gigabytes.
        reserved = torch.empty(max(0, limit - (3 << 30)), dtype=torch.uint8)
        kept = [bytearray(1 << 28) for _ in range(200)]
        return x * len(kept) + reserved[0]
