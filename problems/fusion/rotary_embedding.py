"""Rotary position embedding of queries: pairs of elements turned by angles that grow with the position.

In front of every attention of recent language models. Each element is read and written once; a good solution computes
or loads each angle for all heads at once.
"""

import torch
from torch import nn

batch, heads, length, width = 8, 32, 2048, 128
base = 10000.0

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=2, heads=8, length=256, width=64),
        "odd": dict(batch=3, heads=5, length=333, width=66),
    },
    bytes=2 * 4 * batch * heads * length * width,
    tags=["fusion", "attention", "memory"],
)


class Model(nn.Module):
    def __init__(self, width, base):
        super().__init__()
        self.register_buffer("rates", base ** (-torch.arange(0, width, 2) / width))

    def forward(self, x):
        steps = torch.arange(x.shape[2], device=x.device, dtype=self.rates.dtype)
        angles = steps[:, None] * self.rates
        cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


def get_inputs():
    return [torch.randn(batch, heads, length, width)]


def get_init_inputs():
    return [width, base]
