"""A linear layer, GELU, and the addition of a residual, in bfloat16.

The second half of a transformer's feed-forward layer. The tail reads one more tensor and writes one; unfused it takes
four passes over what the product has just written.
"""

import torch
from torch import nn

rows, width, features = 8192, 4096, 4096

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=64, width=256, features=256),
        "odd": dict(rows=129, width=333, features=131),
    },
    flops=2 * rows * width * features,
    tags=["fusion", "product", "bfloat16"],
)


class Model(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features).bfloat16()

    def forward(self, x, residual):
        return nn.functional.gelu(self.linear(x)) + residual


def get_inputs():
    return [torch.randn(rows, width).bfloat16(), torch.randn(rows, features).bfloat16()]


def get_init_inputs():
    return [width, features]
