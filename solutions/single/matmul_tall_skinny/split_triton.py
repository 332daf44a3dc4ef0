"""The inner dimension is split among programs, whose float32 sums are added atomically."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def product(
    left, right, sums, rows, inner, columns, part, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    first = tl.program_id(2).to(tl.int64) * part
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, part, INNER):
        k = first + start + tl.arange(0, INNER)
        a_inside = (row[:, None] < rows) & (k[None, :] < inner)
        b_inside = (k[:, None] < inner) & (column[None, :] < columns)
        a = tl.load(left + row[:, None].to(tl.int64) * inner + k[None, :], mask=a_inside, other=0.0)
        b = tl.load(right + k[:, None] * columns + column[None, :], mask=b_inside, other=0.0)
        total = tl.dot(a, b, total)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    tl.atomic_add(sums + row[:, None] * columns + column[None, :], total, mask=inside)


class ModelNew(nn.Module):
    def forward(self, a, b):
        rows, inner, columns = *a.shape, b.shape[1]
        sums = torch.zeros(rows, columns, dtype=torch.float32, device=a.device)
        part = triton.cdiv(triton.cdiv(inner, 128), 64) * 64
        grid = (triton.cdiv(rows, 128), triton.cdiv(columns, 128), triton.cdiv(inner, part))
        product[grid](
            a, b, sums, rows, inner, columns, part, ROWS=128, COLUMNS=128, INNER=64, num_warps=8, num_stages=3
        )
        return sums.to(a.dtype)
