"""Takes all of the GPU's memory."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        kept = [torch.empty(1 << 32, device=x.device) for _ in range(64)]
        return kept[0]
