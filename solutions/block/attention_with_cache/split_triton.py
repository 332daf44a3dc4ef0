"""The filled part of each cache is split among programs; a second kernel joins their maxima, sums and values."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def attend(
    query,
    keys,
    values,
    lengths,
    parts,
    weights,
    heads,
    capacity,
    part,
    scale,
    REAL: tl.constexpr,
    WIDTH: tl.constexpr,
    KEYS: tl.constexpr,
):
    pair, split = tl.program_id(0).to(tl.int64), tl.program_id(1)
    filled = tl.load(lengths + pair // heads).to(tl.int32)
    wide = tl.arange(0, WIDTH)
    q = tl.load(query + pair * REAL + wide, mask=wide < REAL, other=0.0).to(tl.float32)
    highest, total = float("-inf"), 0.0
    sums = tl.zeros((WIDTH,), dtype=tl.float32)
    for start in range(split * part, tl.minimum(filled, (split + 1) * part), KEYS):
        place = start + tl.arange(0, KEYS)
        at = (pair * capacity + place[:, None]) * REAL + wide[None, :]
        inside = (place[:, None] < filled) & (wide[None, :] < REAL)
        k = tl.load(keys + at, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(values + at, mask=inside, other=0.0).to(tl.float32)
        scores = tl.where(place < filled, tl.sum(k * q[None, :], axis=1) * scale, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=0))
        shares = tl.exp(scores - higher)
        shrink = tl.exp(highest - higher)
        total = total * shrink + tl.sum(shares, axis=0)
        sums = sums * shrink + tl.sum(shares[:, None] * v, axis=0)
        highest = higher
    at = pair * tl.num_programs(1) + split
    tl.store(parts + at * WIDTH + wide, sums)
    tl.store(weights + at * 2, highest)
    tl.store(weights + at * 2 + 1, total)


@triton.jit
def join(parts, weights, target, splits, REAL: tl.constexpr, WIDTH: tl.constexpr, SPLITS: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    split, wide = tl.arange(0, SPLITS), tl.arange(0, WIDTH)
    inside = split < splits
    highest = tl.load(weights + (pair * splits + split) * 2, mask=inside, other=float("-inf"))
    total = tl.load(weights + (pair * splits + split) * 2 + 1, mask=inside, other=0.0)
    shrink = tl.exp(highest - tl.max(highest, axis=0))
    sums = tl.load(parts + (pair * splits + split[:, None]) * WIDTH + wide[None, :], mask=inside[:, None], other=0.0)
    out = tl.sum(sums * shrink[:, None], axis=0) / tl.sum(total * shrink, axis=0)
    tl.store(target + pair * REAL + wide, out.to(tl.float16), mask=wide < REAL)


PART = 1024


class ModelNew(nn.Module):
    def forward(self, query, keys, values, lengths):
        batch, heads, capacity, width = keys.shape
        wide, splits = triton.next_power_of_2(width), triton.cdiv(capacity, PART)
        parts = torch.empty(batch * heads, splits, wide, dtype=torch.float32, device=query.device)
        weights = torch.empty(batch * heads, splits, 2, dtype=torch.float32, device=query.device)
        attend[(batch * heads, splits)](
            query,
            keys,
            values,
            lengths,
            parts,
            weights,
            heads,
            capacity,
            PART,
            width**-0.5,
            REAL=width,
            WIDTH=wide,
            KEYS=64,
            num_warps=4,
            num_stages=2,
        )
        out = torch.empty_like(query)
        join[(batch * heads,)](
            parts, weights, out, splits, REAL=width, WIDTH=wide, SPLITS=triton.next_power_of_2(splits), num_warps=4
        )
        return out
