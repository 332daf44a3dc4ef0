"""Both weights behind each other, packed at the first call: one product reads the input once."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.value = nn.Linear(width, features)
        self.gate = nn.Linear(width, features)
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            weight = torch.cat((self.value.weight, self.gate.weight))
            self.packed = weight, torch.cat((self.value.bias, self.gate.bias))
        value, gate = nn.functional.linear(x, *self.packed).chunk(2, dim=-1)
        return value * torch.sigmoid(gate)
