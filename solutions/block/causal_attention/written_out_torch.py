"""Scores in float32, mask, softmax and product, written out: what fused kernels avoid."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, query, key, value):
        length = query.shape[2]
        scores = query.float() @ key.float().transpose(-1, -2) * query.shape[-1] ** -0.5
        hidden = torch.ones(length, length, dtype=torch.bool, device=query.device).triu(1)
        weights = torch.softmax(scores.masked_fill_(hidden, float("-inf")), dim=-1)
        return weights.to(query.dtype) @ value
