"""One pass forward that keeps a number a row, and one backward that makes the gradient from the logits."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def forward(logits, targets, losses, sums, classes, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    highest = tl.full((WIDE,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((WIDE,), dtype=tl.float32)
    for start in range(0, classes, WIDE):
        place = start + tl.arange(0, WIDE)
        value = tl.load(logits + row * classes + place, mask=place < classes, other=-1e30)
        higher = tl.maximum(highest, value)
        total = total * tl.exp(highest - higher) + tl.exp(value - higher)
        highest = higher
    top = tl.max(highest, axis=0)
    whole = top + tl.log(tl.sum(total * tl.exp(highest - top), axis=0))
    tl.store(sums + row, whole)
    tl.store(losses + row, whole - tl.load(logits + row * classes + tl.load(targets + row)))


@triton.jit
def backward(logits, targets, sums, grad, target, classes, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    inside = place < classes
    share = tl.exp(tl.load(logits + row * classes + place, mask=inside, other=0.0) - tl.load(sums + row))
    share = tl.where(place == tl.load(targets + row), share - 1.0, share)
    tl.store(target + row * classes + place, share * tl.load(grad + row), mask=inside)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        rows, classes = logits.shape
        losses = torch.empty(rows, dtype=logits.dtype, device=logits.device)
        sums = torch.empty_like(losses)
        forward[(rows,)](logits, targets, losses, sums, classes, WIDE=4096, num_warps=8)
        ctx.save_for_backward(logits, targets, sums)
        return losses

    @staticmethod
    def backward(ctx, grad):
        logits, targets, sums = ctx.saved_tensors
        rows, classes = logits.shape
        out = torch.empty_like(logits)
        grid = (rows, triton.cdiv(classes, 4096))
        backward[grid](logits, targets, sums, grad.contiguous(), out, classes, WIDE=4096, num_warps=8)
        return out, None


class ModelNew(nn.Module):
    def forward(self, logits, targets):
        return Loss.apply(logits, targets)
