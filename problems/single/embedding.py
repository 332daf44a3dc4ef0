"""Rows of a table by index: an embedding lookup in bfloat16.

The first layer of a language model. Each index moves a row of some kilobytes: a good solution gives a row to a warp
and copies sixteen bytes a thread.
"""

import torch
from torch import nn

vocabulary, width, batch, length = 50000, 2048, 16, 2048

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(vocabulary=1000, width=512, batch=8, length=512),
        "odd": dict(vocabulary=777, width=130, batch=3, length=3333),
    },
    bytes=2 * batch * length * width,
    tags=["gather", "bfloat16", "memory"],
)


class Model(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width).bfloat16()

    def forward(self, indices):
        return self.table(indices)


def get_inputs():
    return [torch.randint(vocabulary, (batch, length))]


def get_init_inputs():
    return [vocabulary, width]
