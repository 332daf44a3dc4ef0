"""A program a row, which it holds whole."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def softmax(source, target, columns, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    place = tl.arange(0, WIDTH)
    values = tl.load(source + row + place, mask=place < columns, other=float("-inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(target + row + place, values / tl.sum(values, axis=0), mask=place < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        columns, out = x.shape[-1], torch.empty_like(x)
        width = triton.next_power_of_2(columns)
        softmax[(x.numel() // columns,)](x, out, columns, WIDTH=width, num_warps=min(32, max(4, width // 1024)))
        return out
