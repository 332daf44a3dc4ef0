"""The scan of a selective state-space model: a state for each channel that decays and takes up input at rates which
depend on the input.

The core of Mamba-like models. Step after step it is a loop of tiny work; a good solution gives each channel's state
to registers of a thread and goes through the sequence once.
"""

import torch
from torch import nn

batch, length, channels, states = 4, 256, 1024, 16

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=1, length=24, channels=64),
        "odd": dict(batch=3, length=77, channels=130, states=9),
    },
    bytes=3 * 4 * batch * length * channels,
    tags=["scan"],
)


class Model(nn.Module):
    def __init__(self, channels, states):
        super().__init__()
        self.rates = nn.Parameter(torch.rand(channels, states) + 0.5)
        self.skip = nn.Parameter(torch.randn(channels))

    def forward(self, x, steps, into, out_of):
        steps = nn.functional.softplus(steps)
        state = x.new_zeros(x.shape[0], x.shape[2], self.rates.shape[1])
        outputs = []
        for step in range(x.shape[1]):
            decay = torch.exp(-steps[:, step, :, None] * self.rates)
            taken = (steps[:, step] * x[:, step])[..., None] * into[:, step, None]
            state = decay * state + taken
            outputs.append((state * out_of[:, step, None]).sum(dim=-1))
        return torch.stack(outputs, dim=1) + x * self.skip


def get_inputs():
    return [
        torch.randn(batch, length, channels),
        torch.randn(batch, length, channels),
        torch.randn(batch, length, states),
        torch.randn(batch, length, states),
    ]


def get_init_inputs():
    return [channels, states]
