"""Horner's rule in place, in float32: half the memory traffic of the reference."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, coefficients):
        super().__init__()
        self.coefficients = coefficients

    def forward(self, x):
        wide = x.float()
        total = torch.full_like(wide, self.coefficients[0])
        for coefficient in self.coefficients[1:]:
            total.mul_(wide).add_(coefficient)
        return total.to(x.dtype)
