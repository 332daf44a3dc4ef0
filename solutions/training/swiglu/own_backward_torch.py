"""A backward pass of its own: the sigmoid is computed again, nothing is kept but the inputs."""

import torch
from torch import nn


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, value):
        ctx.save_for_backward(gate, value)
        return nn.functional.silu(gate).mul_(value)

    @staticmethod
    def backward(ctx, grad):
        gate, value = ctx.saved_tensors
        open_share = torch.sigmoid(gate)
        active = gate * open_share
        slope = torch.addcmul(open_share, active, 1 - open_share)
        return slope.mul_(value).mul_(grad), active.mul_(grad)


class ModelNew(nn.Module):
    def forward(self, gate, value):
        return Gate.apply(gate, value)
