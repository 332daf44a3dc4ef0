"""The mask as something to add, made once for all heads."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, mask):
        hidden = mask.to(torch.float32) * -1e4
        return torch.softmax(torch.add(hidden, scores, alpha=self.scale), dim=-1).to(scores.dtype)
