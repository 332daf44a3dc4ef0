"""Each output reads its window, mostly from the cache, and nothing is kept about where the maximum stood."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def pool(source, target, height, width, high, wide, count, WIDE: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * WIDE + tl.arange(0, WIDE)
    column, row, image = place % wide, place // wide % high, place // (wide * high)
    largest = tl.full((WIDE,), float("-inf"), dtype=tl.float32)
    for dy in tl.static_range(3):
        for dx in tl.static_range(3):
            y, x = row * 2 + dy - 1, column * 2 + dx - 1
            inside = (place < count) & (y >= 0) & (y < height) & (x >= 0) & (x < width)
            value = tl.load(source + (image * height + y) * width + x, mask=inside, other=float("-inf"))
            largest = tl.maximum(largest, value)
    tl.store(target + place, largest, mask=place < count)


class ModelNew(nn.Module):
    def forward(self, x):
        batch, channels, height, width = x.shape
        high, wide = (height + 1) // 2, (width + 1) // 2
        out = torch.empty(batch, channels, high, wide, dtype=x.dtype, device=x.device)
        pool[(triton.cdiv(out.numel(), 1024),)](x, out, height, width, high, wide, out.numel(), WIDE=1024, num_warps=4)
        return out
