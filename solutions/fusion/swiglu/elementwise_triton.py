"""Gate and value of a piece of a row are loaded side by side: two reads, one write."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def gate(source, target, width, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    inside = place < width
    opened = tl.load(source + row * 2 * width + place, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(source + row * 2 * width + width + place, mask=inside, other=0.0)
    active = (opened * tl.sigmoid(opened)).to(tl.bfloat16)
    tl.store(target + row * width + place, active * value, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, width = x.numel() // x.shape[-1], x.shape[-1] // 2
        out = torch.empty(*x.shape[:-1], width, dtype=x.dtype, device=x.device)
        gate[(rows, triton.cdiv(width, 2048))](x, out, width, WIDE=2048, num_warps=8)
        return out
