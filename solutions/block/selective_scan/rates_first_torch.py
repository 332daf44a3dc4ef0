"""What does not depend on the state is computed for all steps at once; the loop is a multiplication and an addition."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels, states):
        super().__init__()
        self.rates = nn.Parameter(torch.rand(channels, states) + 0.5)
        self.skip = nn.Parameter(torch.randn(channels))

    def forward(self, x, steps, into, out_of):
        steps = nn.functional.softplus(steps)
        decay = torch.exp(-steps[..., None] * self.rates)
        states = (steps * x)[..., None] * into[:, :, None]
        for step in range(1, x.shape[1]):
            states[:, step].addcmul_(decay[:, step], states[:, step - 1])
        return torch.einsum("blcs,bls->blc", states, out_of) + x * self.skip
