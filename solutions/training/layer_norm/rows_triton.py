"""Backward, a program goes through many rows: the input's gradient on the way, scale and shift added up at the end."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def forward(source, weight, bias, target, means, factors, columns, epsilon, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, WIDTH)
    inside = place < columns
    value = tl.load(source + row * columns + place, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / columns
    off = tl.where(inside, value - mean, 0.0)
    factor = tl.rsqrt(tl.sum(off * off, axis=0) / columns + epsilon)
    scale, shift = tl.load(weight + place, mask=inside), tl.load(bias + place, mask=inside)
    tl.store(target + row * columns + place, off * factor * scale + shift, mask=inside)
    tl.store(means + row, mean)
    tl.store(factors + row, factor)


@triton.jit
def backward(source, weight, means, factors, grad, to_source, scales, shifts, rows, columns, WIDTH: tl.constexpr):
    place = tl.arange(0, WIDTH)
    inside = place < columns
    weights = tl.load(weight + place, mask=inside, other=0.0)
    to_scale = tl.zeros((WIDTH,), dtype=tl.float32)
    to_shift = tl.zeros((WIDTH,), dtype=tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        start = row.to(tl.int64) * columns
        above = tl.load(grad + start + place, mask=inside, other=0.0)
        value = tl.load(source + start + place, mask=inside, other=0.0)
        factor = tl.load(factors + row)
        even = tl.where(inside, (value - tl.load(means + row)) * factor, 0.0)
        to_scale += above * even
        to_shift += above
        inner = above * weights
        along, apart = tl.sum(inner * even, axis=0) / columns, tl.sum(inner, axis=0) / columns
        tl.store(to_source + start + place, (inner - even * along - apart) * factor, mask=inside)
    at = tl.program_id(0) * columns + place
    tl.store(scales + at, to_scale, mask=inside)
    tl.store(shifts + at, to_shift, mask=inside)


PROGRAMS = 528


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, epsilon):
        rows, columns = x.shape
        out, means = torch.empty_like(x), torch.empty(rows, dtype=x.dtype, device=x.device)
        factors, width = torch.empty_like(means), triton.next_power_of_2(columns)
        forward[(rows,)](x, weight, bias, out, means, factors, columns, epsilon, WIDTH=width, num_warps=8)
        ctx.save_for_backward(x, weight, means, factors)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, weight, means, factors = ctx.saved_tensors
        rows, columns = x.shape
        programs, width = min(rows, PROGRAMS), triton.next_power_of_2(columns)
        to_x, scales = torch.empty_like(x), torch.empty(programs, columns, dtype=x.dtype, device=x.device)
        shifts = torch.empty_like(scales)
        backward[(programs,)](
            x, weight, means, factors, grad.contiguous(), to_x, scales, shifts, rows, columns, WIDTH=width, num_warps=8
        )
        return to_x, scales.sum(dim=0), shifts.sum(dim=0), None


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x):
        return Norm.apply(x, self.norm.weight, self.norm.bias, self.norm.eps)
