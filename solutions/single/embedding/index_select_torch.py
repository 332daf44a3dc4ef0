"""Rows selected by a flat list of indices."""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width).bfloat16()

    def forward(self, indices):
        rows = self.table.weight.index_select(0, indices.flatten())
        return rows.view(*indices.shape, -1)
