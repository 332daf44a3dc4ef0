"""Sets process-wide flags, as real solutions do."""

import os

import torch
from torch import nn

torch.backends.cudnn.benchmark = True
torch.set_float32_matmul_precision("high")
os.environ["SOLUTION_WAS_HERE"] = "1"


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
