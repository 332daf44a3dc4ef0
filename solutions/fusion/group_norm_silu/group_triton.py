"""A program a group: sums in a first pass, output and SiLU in a second that finds the group in the cache."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def normalise(source, weight, bias, target, groups, each, area, epsilon, WIDE: tl.constexpr):
    group = tl.program_id(0).to(tl.int64)
    count, first = each * area, group % groups * each
    start = group * count
    total = tl.zeros((WIDE,), dtype=tl.float32)
    squares = tl.zeros((WIDE,), dtype=tl.float32)
    near = tl.load(source + start).to(tl.float32)  # so that squares of large values do not cancel
    for at in range(0, count, WIDE):
        place = at + tl.arange(0, WIDE)
        off = tl.load(source + start + place, mask=place < count, other=0.0).to(tl.float32) - near
        off = tl.where(place < count, off, 0.0)
        total += off
        squares += off * off
    mean = tl.sum(total, axis=0) / count
    factor = tl.rsqrt(tl.sum(squares, axis=0) / count - mean * mean + epsilon)
    for at in range(0, count, WIDE):
        place = at + tl.arange(0, WIDE)
        inside = place < count
        scale = tl.load(weight + first + place // area, mask=inside, other=0.0).to(tl.float32)
        shift = tl.load(bias + first + place // area, mask=inside, other=0.0).to(tl.float32)
        off = tl.load(source + start + place, mask=inside, other=0.0).to(tl.float32) - near
        value = (off - mean) * factor * scale + shift
        tl.store(target + start + place, (value * tl.sigmoid(value)).to(tl.float16), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels).half()

    def forward(self, x):
        batch, channels, height, width = x.shape
        norm, out = self.norm, torch.empty_like(x)
        normalise[(batch * norm.num_groups,)](
            x,
            norm.weight,
            norm.bias,
            out,
            norm.num_groups,
            channels // norm.num_groups,
            height * width,
            norm.eps,
            WIDE=4096,
            num_warps=16,
        )
        return out
