"""The library's product, then GELU and the residual in one pass, in place."""

import triton
import triton.language as tl
from torch import nn


@triton.jit
def tail(inner, residual, count, WIDE: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * WIDE + tl.arange(0, WIDE)
    inside = place < count
    x = tl.load(inner + place, mask=inside, other=0.0).to(tl.float32)
    active = (0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))).to(tl.bfloat16)
    tl.store(inner + place, active + tl.load(residual + place, mask=inside, other=0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features).bfloat16()

    def forward(self, x, residual):
        inner = self.linear(x)
        tail[(triton.cdiv(inner.numel(), 2048),)](inner, residual, inner.numel(), WIDE=2048, num_warps=8)
        return inner
