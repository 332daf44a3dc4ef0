"""The inner dimension in sixteen parts, each a product of a batch, added up in float32."""

import torch
from torch import nn

PARTS = 16


class ModelNew(nn.Module):
    def forward(self, a, b):
        length = a.shape[1] // PARTS * PARTS
        left = a[:, :length].reshape(a.shape[0], PARTS, -1).transpose(0, 1)
        right = b[:length].reshape(PARTS, -1, b.shape[1])
        total = torch.bmm(left, right).float().sum(dim=0)
        if length < a.shape[1]:
            total += (a[:, length:] @ b[length:]).float()
        return total.to(a.dtype)
