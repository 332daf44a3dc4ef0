"""Descriptors without end.

Row 87. Because: Too many open files.
"""

import os

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))
        self.held = []

    def forward(self, x):
        while True:
            self.held.append(os.open("/dev/null", os.O_RDONLY))
