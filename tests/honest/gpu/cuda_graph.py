"""Replays a graph from its own static buffers: honest.

Twin of 69. Problem: matmul. Workload: 2048.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.graph = None

    def forward(self, x):
        if self.graph is None:
            self.given = x.clone()
            for _ in range(3):
                self.given @ self.given
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.made = self.given @ self.given
        self.given.copy_(x)
        self.graph.replay()
        return self.made
