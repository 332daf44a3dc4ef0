"""For each row, elements at places that an index names.

Sparse attention and negative sampling. Reads are scattered within a row, which fits a cache: a good solution keeps
enough loads on their way and writes in order.
"""

import torch
from torch import nn

rows, columns, picked = 8192, 8192, 2048

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=1024, columns=1024, picked=512),
        "odd": dict(rows=77, columns=1111, picked=333),
    },
    bytes=(4 + 8) * rows * picked,
    tags=["gather", "float32", "memory"],
)


class Model(nn.Module):
    def forward(self, x, index):
        return x.gather(1, index)


def get_inputs():
    return [torch.randn(rows, columns), torch.randint(columns, (rows, picked))]


def get_init_inputs():
    return []
