"""A convolution, batch normalisation with stored statistics, and ReLU, as in inference.

The statistics are constants: they can be folded into the convolution's weights once, and what is left is an
epilogue of a bias and a maximum.
"""

import torch
from torch import nn

batch, channels, height, width, filters = 64, 64, 56, 56, 64

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=2, channels=16, height=28, width=28, filters=16),
        "odd": dict(batch=5, channels=13, height=31, width=45, filters=19),
    },
    bytes=4 * batch * height * width * (channels + filters),
    tags=["fusion", "convolution", "normalisation"],
)


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(filters)
        self.norm.running_mean.normal_(0, 0.1)
        self.norm.running_var.uniform_(0.5, 1.5)
        self.eval()

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, filters]
