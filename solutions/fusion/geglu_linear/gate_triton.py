"""The library's product, then gate and value of each place in one pass."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def gate(source, target, width, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    inside = place < width
    x = tl.load(source + row * 2 * width + place, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(source + row * 2 * width + width + place, mask=inside, other=0.0)
    active = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(target + row * width + place, active.to(tl.float16) * value, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, 2 * features).half()

    def forward(self, x):
        both = self.linear(x)
        rows, width = both.shape[0], both.shape[1] // 2
        out = torch.empty(rows, width, dtype=x.dtype, device=x.device)
        gate[(rows, triton.cdiv(width, 1024))](both, out, width, WIDE=1024, num_warps=4)
        return out
