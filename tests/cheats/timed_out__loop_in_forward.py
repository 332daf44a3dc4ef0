"""Never returns.

Row 87. Because: first-call took longer.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))
        self.calls = 0

    def forward(self, x):
        while True:
            pass
