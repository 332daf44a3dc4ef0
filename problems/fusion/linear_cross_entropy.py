"""The last layer of a language model and its loss: logits over a vocabulary, then cross entropy for each token.

The logits are the largest tensor of the whole network and are needed for two numbers a row. A good solution makes
them tile by tile and never writes them.
"""

import torch
from torch import nn

rows, width, classes = 4096, 1024, 32000

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=64, width=128, classes=2000),
        "odd": dict(rows=333, width=130, classes=2003),
    },
    flops=2 * rows * width * classes,
    tags=["fusion", "product", "loss"],
)


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.linear = nn.Linear(width, classes, bias=False)

    def forward(self, x, targets):
        return nn.functional.cross_entropy(self.linear(x), targets, reduction="none")


def get_inputs():
    return [torch.randn(rows, width), torch.randint(classes, (rows,))]


def get_init_inputs():
    return [width, classes]
