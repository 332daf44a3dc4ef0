"""Two threads do the work, and are waited for.

Twin of 67.
"""

import threading

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        y = torch.empty_like(x)
        half = x.shape[0] // 2

        def work(rows):
            y[rows] = x[rows] * self.weight.detach() + 1.0

        threads = [threading.Thread(target=work, args=(rows,)) for rows in (slice(0, half), slice(half, None))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return y
