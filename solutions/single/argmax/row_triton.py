"""A program a row, piece by piece: each lane keeps its largest value and where it stood, the first of equal ones."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def find(source, target, columns, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    highest = tl.full((WIDE,), float("-inf"), dtype=tl.float32)
    where = tl.zeros((WIDE,), dtype=tl.int32)
    for start in range(0, columns, WIDE):
        place = start + tl.arange(0, WIDE)
        value = tl.load(source + row * columns + place, mask=place < columns, other=float("-inf"))
        where = tl.where(value > highest, place, where)
        highest = tl.maximum(highest, value)
    top = tl.max(highest, axis=0)
    tl.store(target + row, tl.min(tl.where(highest == top, where, columns), axis=0).to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        out = torch.empty(rows, dtype=torch.int64, device=x.device)
        find[(rows,)](x, out, columns, WIDE=2048, num_warps=8)
        return out
