"""Works on a stream that nothing waits for.

Row 66. Problem: matmul. Workload: 2048.
"""

import torch
from torch import nn

side = torch.cuda.Stream()


class ModelNew(nn.Module):
    def forward(self, x):
        with torch.cuda.stream(side):
            for _ in range(20):
                y = x @ x
            return y
