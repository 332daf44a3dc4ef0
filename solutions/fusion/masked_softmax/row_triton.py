"""A program a row of scores: scaled, masked and normalised between one load and one store."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def softmax(scores, mask, target, heads, queries, keys, scale, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    sample = row // (heads * queries)
    place = tl.arange(0, WIDTH)
    inside = place < keys
    values = tl.load(scores + row * keys + place, mask=inside, other=0.0).to(tl.float32) * scale
    hidden = tl.load(mask + (sample * queries + row % queries) * keys + place, mask=inside, other=0)
    values = tl.where(hidden != 0, -1e4, values)
    values = tl.where(inside, values, float("-inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(target + row * keys + place, (values / tl.sum(values, axis=0)).to(tl.float16), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, mask):
        batch, heads, queries, keys = scores.shape
        out, width = torch.empty_like(scores), triton.next_power_of_2(keys)
        hidden = mask.contiguous().view(torch.uint8)
        softmax[(batch * heads * queries,)](
            scores, hidden, out, heads, queries, keys, self.scale, WIDTH=width, num_warps=4
        )
        return out
