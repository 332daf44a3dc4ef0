"""A linear layer whose weights and inputs are eight-bit integers with a scale for each row and column.

Quantised inference. The product of integers is exact and takes tensor cores; scales belong into its epilogue. The
reference does it in float64, in which sums of this length are exact as well.
"""

import torch
from torch import nn

rows, width, features = 8192, 2048, 2048

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(rows=64, width=256, features=128),
        "odd": dict(rows=333, width=131, features=257),
    },
    flops=2 * rows * width * features,
    tags=["product", "int8"],
)


class Model(nn.Module):
    def forward(self, x, weight, x_scale, weight_scale):
        product = x.double() @ weight.double().t()
        return (product * x_scale[:, None].double() * weight_scale.double()).float()


def get_inputs():
    return [
        torch.randint(-127, 128, (rows, width), dtype=torch.int8),
        torch.randint(-127, 128, (features, width), dtype=torch.int8),
        torch.randn(rows) * 0.01,
        torch.randn(features) * 0.01,
    ]


def get_init_inputs():
    return []
