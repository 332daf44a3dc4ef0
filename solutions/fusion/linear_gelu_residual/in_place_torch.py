"""The residual is added in place."""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features).bfloat16()

    def forward(self, x, residual):
        return nn.functional.gelu(self.linear(x)).add_(residual)
