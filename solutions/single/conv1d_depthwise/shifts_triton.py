"""A piece of a sequence and its three shifts, which the cache holds: one pass, sums in float32."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def convolve(source, weight, bias, target, channels, length, TAPS: tl.constexpr, WIDE: tl.constexpr):
    line = tl.program_id(0).to(tl.int64)
    channel = line % channels
    place = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    total = tl.zeros((WIDE,), dtype=tl.float32) + tl.load(bias + channel).to(tl.float32)
    for tap in tl.static_range(TAPS):
        at = place + tap - (TAPS - 1)
        value = tl.load(source + line * length + at, mask=(at >= 0) & (at < length), other=0.0).to(tl.float32)
        total += value * tl.load(weight + channel * TAPS + tap).to(tl.float32)
    tl.store(target + line * length + place, total.to(tl.bfloat16), mask=place < length)


class ModelNew(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, width, groups=channels, padding=width - 1).bfloat16()
        self.width = width

    def forward(self, x):
        batch, channels, length = x.shape
        out = torch.empty_like(x)
        convolve[(batch * channels, triton.cdiv(length, 1024))](
            x, self.conv.weight, self.conv.bias, out, channels, length, TAPS=self.width, WIDE=1024, num_warps=4
        )
        return out
