"""Rows divided by their Euclidean norm and multiplied by a learned temperature for each column.

Contrastive models compare such rows. The norm needs the whole row, the output is written once: one read, one write.
"""

import torch
from torch import nn

rows, columns = 65536, 1024

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=1024, columns=512),
        "odd": dict(rows=129, columns=333),
    },
    bytes=2 * 4 * rows * columns,
    tags=["fusion", "normalisation", "memory"],
)


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.temperature = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return nn.functional.normalize(x, dim=-1) * self.temperature


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
