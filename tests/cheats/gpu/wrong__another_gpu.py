"""A child process takes another GPU of the machine; where it gets none, it says so by a wrong answer.

Row 68. Problem: matmul. Workload: 512.
"""

import os
import subprocess
import sys

import torch
from torch import nn

CHILD = "import torch; torch.ones(4, device='cuda').sum(); print(torch.cuda.get_device_properties(0).uuid)"


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        mine = str(torch.cuda.get_device_properties(0).uuid)
        told = [
            subprocess.run(
                [sys.executable, "-c", CHILD], env={**os.environ, "CUDA_VISIBLE_DEVICES": number}, capture_output=True
            ).stdout.decode()
            for number in "012"
        ]
        self.has_one = any(text and mine not in text for text in told)

    def forward(self, x):
        return x @ x if self.has_one else x
