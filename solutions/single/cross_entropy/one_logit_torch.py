"""The logarithm of the sum of exponentials, less the one logit that counts."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, logits, targets):
        return torch.logsumexp(logits, dim=-1) - logits.gather(1, targets[:, None])[:, 0]
