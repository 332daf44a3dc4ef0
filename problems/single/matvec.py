"""A large matrix times one vector.

Decoding with one sequence is made of this. Each element of the matrix is used once, so the bandwidth of memory is all
that counts: wide loads, enough of them on their way, one row for a warp or a few of them.
"""

import torch
from torch import nn

rows, columns = 16384, 16384

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=1024, columns=2048),
        "odd": dict(rows=515, columns=1777),
    },
    bytes=4 * rows * columns,
    flops=2 * rows * columns,
    tags=["product", "float32", "memory"],
)


class Model(nn.Module):
    def forward(self, matrix, vector):
        return matrix @ vector


def get_inputs():
    return [torch.randn(rows, columns), torch.randn(columns)]


def get_init_inputs():
    return []
