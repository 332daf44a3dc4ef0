"""Some rows at a time, so that their logits stay in the cache."""

import torch
from torch import nn

ROWS = 512


class ModelNew(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.linear = nn.Linear(width, classes, bias=False)

    def forward(self, x, targets):
        losses = []
        for rows, wanted in zip(x.split(ROWS), targets.split(ROWS), strict=True):
            logits = self.linear(rows)
            losses.append(logits.logsumexp(dim=-1) - logits.gather(1, wanted[:, None])[:, 0])
        return torch.cat(losses)
