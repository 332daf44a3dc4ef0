"""First along rows, then along columns: six comparisons for an output instead of nine."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        rows = nn.functional.max_pool2d(x, (1, 3), stride=(1, 2), padding=(0, 1))
        return nn.functional.max_pool2d(rows, (3, 1), stride=(2, 1), padding=(1, 0))
