"""What TF32 does to the factors, where the problem asks for full precision.

Row 42. Problem: linear_full.
"""

import torch
from torch import nn

def rounded(tensor):
    return ((tensor.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return rounded(x) @ rounded(self.linear.weight.detach()).mT + self.linear.bias
