"""A residual block of two convolutions with batch normalisation, as in inference.

Image networks are towers of it. Normalisations fold into the weights, and activations and the residual belong into
the epilogues of the convolutions.
"""

import torch
from torch import nn

batch, channels, height, width = 32, 64, 56, 56

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=1, channels=16, height=28, width=28),
        "odd": dict(batch=3, channels=19, height=31, width=45),
    },
    bytes=2 * 4 * batch * channels * height * width,
    tags=["convolution", "normalisation"],
)


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)
        for norm in (self.first_norm, self.second_norm):
            norm.running_mean.normal_(0, 0.1)
            norm.running_var.uniform_(0.5, 1.5)
        self.eval()

    def forward(self, x):
        inner = torch.relu(self.first_norm(self.first(x)))
        return torch.relu(self.second_norm(self.second(inner)) + x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
