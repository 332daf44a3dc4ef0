"""A program a row: squares in float32, one read, one write."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def normalise(source, weight, target, columns, epsilon, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    place = tl.arange(0, WIDTH)
    values = tl.load(source + row + place, mask=place < columns, other=0.0).to(tl.float32)
    factor = tl.rsqrt(tl.sum(values * values, axis=0) / columns + epsilon)
    scale = tl.load(weight + place, mask=place < columns, other=0.0)
    tl.store(target + row + place, (values * factor).to(tl.bfloat16) * scale, mask=place < columns)


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns).bfloat16())
        self.epsilon = epsilon

    def forward(self, x):
        columns, out = x.shape[-1], torch.empty_like(x)
        width = triton.next_power_of_2(columns)
        normalise[(x.numel() // columns,)](x, self.weight, out, columns, self.epsilon, WIDTH=width, num_warps=8)
        return out
