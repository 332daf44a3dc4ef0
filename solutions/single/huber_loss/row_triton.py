"""A program a row: two loads, a choice, one sum."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def loss(left, right, target, columns, delta, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, WIDTH)
    inside = place < columns
    off = tl.load(left + row * columns + place, mask=inside, other=0.0)
    off = tl.abs(off - tl.load(right + row * columns + place, mask=inside, other=0.0))
    each = tl.where(off < delta, 0.5 * off * off, delta * (off - 0.5 * delta))
    tl.store(target + row, tl.sum(each, axis=0) / columns)


class ModelNew(nn.Module):
    def __init__(self, delta):
        super().__init__()
        self.delta = delta

    def forward(self, x, target):
        rows, columns = x.shape
        out = torch.empty(rows, dtype=x.dtype, device=x.device)
        width = triton.next_power_of_2(columns)
        loss[(rows,)](x, target, out, columns, self.delta, WIDTH=width, num_warps=4)
        return out
