"""Writes to its scratch until there is no room.

Row 87. Because: No space left.
"""

import os
import pathlib

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        with pathlib.Path(os.environ["TMPDIR"], "full").open("wb") as file:
            while True:
                file.write(bytes(1 << 24))
