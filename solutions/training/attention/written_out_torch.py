"""Scores and softmax written out: autograd keeps both."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, query, key, value):
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        return torch.softmax(scores, dim=-1) @ value
