import torch
import torch.nn as nn

ROWS = 2048
IN_FEATURES = 1024
OUT_FEATURES = 2048


class Model(nn.Module):
    """
    Mixed-precision projection: both operands are rounded to fp16, the products
    are accumulated in fp32 and the result is returned in fp32.
    """

    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features) / in_features**0.5)

    def forward(self, x):
        return torch.matmul(x.half().float(), self.weight.half().float())


def get_inputs():
    return [torch.randn(ROWS, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
