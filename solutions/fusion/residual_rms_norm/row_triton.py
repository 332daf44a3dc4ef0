"""A program a row: the sum is written and normalised while it is held."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def add_and_normalise(left, right, weight, target, total, columns, epsilon, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    place = tl.arange(0, WIDTH)
    inside = place < columns
    added = tl.load(left + row + place, mask=inside, other=0.0) + tl.load(right + row + place, mask=inside, other=0.0)
    tl.store(total + row + place, added, mask=inside)
    values = added.to(tl.float32)
    factor = tl.rsqrt(tl.sum(values * values, axis=0) / columns + epsilon)
    scale = tl.load(weight + place, mask=inside, other=0.0)
    tl.store(target + row + place, (values * factor).to(tl.bfloat16) * scale, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, columns, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns).bfloat16())
        self.epsilon = epsilon

    def forward(self, x, residual):
        columns, out, total = x.shape[-1], torch.empty_like(x), torch.empty_like(x)
        grid, width = (x.numel() // columns,), triton.next_power_of_2(columns)
        add_and_normalise[grid](x, residual, self.weight, out, total, columns, self.epsilon, WIDTH=width, num_warps=8)
        return out, total
