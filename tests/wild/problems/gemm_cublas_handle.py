import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 1024
IN_FEATURES = 1024
OUT_FEATURES = 4096


class Model(nn.Module):
    """Linear layer followed by the exact (erf) GELU: the first half of a transformer FFN."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return F.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(TOKENS, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
