"""A strided convolution over a sequence, and GELU.

The front of speech recognisers, where sequences are long and channels few. The tail is as much memory traffic as the
convolution itself.
"""

import torch
from torch import nn

batch, channels, length, filters = 64, 80, 6000, 384

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=2, channels=16, length=600, filters=32),
        "odd": dict(batch=3, channels=17, length=333, filters=37),
    },
    bytes=4 * batch * length * (channels + filters / 2),
    tags=["fusion", "convolution"],
)


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv1d(channels, filters, 3, stride=2, padding=1)

    def forward(self, x):
        return nn.functional.gelu(self.conv(x))


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, filters]
