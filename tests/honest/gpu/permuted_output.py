"""Returns its output in another order of memory: bringing it into the reference's is part of the call, and no lie.

Twin of 97. Problem: matmul. Workload: 2048.
"""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return (x.t() @ x.t()).t()
