"""The mean cross entropy of logits over a vocabulary, against classes.

The loss of every language model. A softmax over the whole row is not needed: the logarithm of the sum of exponentials
and one gathered logit are, in one pass.
"""

import torch
from torch import nn

rows, classes = 8192, 32000

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=64, classes=4000),
        "odd": dict(rows=333, classes=2003),
    },
    bytes=4 * rows * classes,
    tags=["loss", "float32", "memory"],
)


class Model(nn.Module):
    def forward(self, logits, targets):
        return nn.functional.cross_entropy(logits, targets, reduction="none")


def get_inputs():
    return [
        torch.randn(rows, classes) * 2,
        torch.randint(classes, (rows,)),
    ]


def get_init_inputs():
    return []
