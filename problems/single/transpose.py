"""The transpose of a matrix, written out.

Layout changes between libraries cost this much. Either reads or writes are apart by a whole row, unless a tile is
turned around in shared memory, where bank conflicts are the next thing to meet.
"""

import torch
from torch import nn

rows, columns = 8192, 16384

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=640, columns=896),
        "odd": dict(rows=129, columns=515),
    },
    bytes=2 * 4 * rows * columns,
    tags=["layout", "float32", "memory"],
)


class Model(nn.Module):
    def forward(self, x):
        return x.t().contiguous()


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
