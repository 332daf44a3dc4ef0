"""The mean cross entropy of logits, and its gradient.

The gradient is softmax less the target, so the forward pass can write it at once in the place of the logits: two
passes over the largest tensor of a language model instead of five.
"""

import torch
from torch import nn

rows, classes = 4096, 32000

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=32, classes=2000),
        "odd": dict(rows=333, classes=2003),
    },
    grad=True,
    bytes=2 * 4 * rows * classes,
    tags=["training", "loss", "memory"],
)


class Model(nn.Module):
    def forward(self, logits, targets):
        return nn.functional.cross_entropy(logits, targets, reduction="none")


def get_inputs():
    return [torch.randn(rows, classes), torch.randint(classes, (rows,))]


def get_init_inputs():
    return []
