"""Leaves a thread and a child behind.

Row 89.
"""

import os
import threading
import time

import torch
from torch import nn

threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
if os.fork() == 0:
    time.sleep(600)
    os._exit(0)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
