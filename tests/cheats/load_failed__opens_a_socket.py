"""Asks the network.

Row 88. Because: PermissionError.
"""

import socket

import torch
from torch import nn

socket.create_connection(("127.0.0.1", 22), 1)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
