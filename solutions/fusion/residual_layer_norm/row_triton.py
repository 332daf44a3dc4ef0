"""A program a row: the sum is written and normalised while it is held."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def add_and_normalise(left, right, weight, bias, target, total, columns, epsilon, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    place = tl.arange(0, WIDTH)
    inside = place < columns
    added = tl.load(left + row + place, mask=inside, other=0.0) + tl.load(right + row + place, mask=inside, other=0.0)
    tl.store(total + row + place, added, mask=inside)
    off = tl.where(inside, added - tl.sum(added, axis=0) / columns, 0.0)
    factor = tl.rsqrt(tl.sum(off * off, axis=0) / columns + epsilon)
    scale = tl.load(weight + place, mask=inside, other=0.0)
    shift = tl.load(bias + place, mask=inside, other=0.0)
    tl.store(target + row + place, off * factor * scale + shift, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x, residual):
        columns, out, total = x.shape[-1], torch.empty_like(x), torch.empty_like(x)
        grid, width, norm = (x.numel() // columns,), triton.next_power_of_2(columns), self.norm
        add_and_normalise[grid](
            x, residual, norm.weight, norm.bias, out, total, columns, norm.eps, WIDTH=width, num_warps=8
        )
        return out, total
