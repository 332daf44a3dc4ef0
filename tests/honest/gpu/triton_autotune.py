"""A Triton kernel that tries some shapes of blocks in its first call.

Twin of 80, 94. Problem: own_kernel.
"""

import torch
import triton
import triton.language as tl
from torch import nn

CHOICES = [
    triton.Config({"ROWS": rows, "COLUMNS": columns, "INNER": 32}, num_warps=warps)
    for rows, columns, warps in ((64, 64, 4), (128, 64, 4), (128, 128, 8))
]


@triton.autotune(configs=CHOICES, key=["rows", "inner", "width"])
@triton.jit
def product(
    left, right, bias, to, rows, inner, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, inner, INNER):
        k = start + tl.arange(0, INNER)
        a = tl.load(left + row[:, None] * inner + k[None, :], mask=(row[:, None] < rows) & (k[None, :] < inner), other=0.0)
        b = tl.load(right + k[:, None] * width + column[None, :], mask=(k[:, None] < inner) & (column[None, :] < width), other=0.0)
        total += tl.dot(a, b, input_precision="ieee")
    total += tl.load(bias + column, mask=column < width, other=0.0)[None, :]
    inside = (row[:, None] < rows) & (column[None, :] < width)
    tl.store(to + row[:, None] * width + column[None, :], tl.maximum(total, 0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        rows, inner, width = *x.shape, self.weight.shape[1]
        out = torch.empty(rows, width, device=x.device)

        def grid(chosen):
            return triton.cdiv(rows, chosen["ROWS"]), triton.cdiv(width, chosen["COLUMNS"])

        product[grid](x, self.weight, self.bias, out, rows, inner, width)
        return out
