"""Softmax is kept, and the gradient is made in its place."""

import torch
from torch import nn


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        shares = torch.softmax(logits, dim=-1)
        ctx.save_for_backward(shares, targets)
        return torch.logsumexp(logits, dim=-1) - logits.gather(1, targets[:, None])[:, 0]

    @staticmethod
    def backward(ctx, grad):
        shares, targets = ctx.saved_tensors
        shares[torch.arange(len(targets), device=targets.device), targets] -= 1.0
        return shares.mul_(grad[:, None]), None


class ModelNew(nn.Module):
    def forward(self, logits, targets):
        return Loss.apply(logits, targets)
