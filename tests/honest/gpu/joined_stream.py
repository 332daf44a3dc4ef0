"""Works on a side stream and joins it: honest.

Twin of 66. Problem: matmul. Workload: 2048.
"""

import torch
from torch import nn

side = torch.cuda.Stream()


class ModelNew(nn.Module):
    def forward(self, x):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x @ x
        torch.cuda.current_stream().wait_stream(side)
        return y
