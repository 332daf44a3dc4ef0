"""Rows added up at places that an index names, several to one place.

Message passing on graphs, and the gradient of an embedding. Atomic additions meet at the same rows: a good solution
sorts, or adds what is equal within a block first.
"""

import torch
from torch import nn

edges, nodes, width = 262144, 16384, 128

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(edges=8192, nodes=512, width=32),
        "odd": dict(edges=3001, nodes=333, width=37),
    },
    bytes=4 * edges * width,
    tags=["scatter", "float32", "memory"],
)


class Model(nn.Module):
    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes

    def forward(self, messages, index):
        out = messages.new_zeros(self.nodes, messages.shape[1])
        return out.index_add(0, index, messages)


def get_inputs():
    return [torch.randn(edges, width), torch.randint(nodes, (edges,))]


def get_init_inputs():
    return [nodes]
