import math

import torch
import torch.nn as nn
import torch.nn.functional as F

num_steps = 8
batch_size = 256
input_features = 256
state_size = 512


class Model(nn.Module):
    """A gated recurrent cell without a separate forget gate (the input gate is
    coupled: what is not written is kept), run over a short sequence."""

    def __init__(self, input_features: int, state_size: int):
        super().__init__()
        bound = 1.0 / math.sqrt(state_size)
        self.weights = nn.Parameter(
            torch.empty(3 * state_size, input_features + state_size).uniform_(-bound, bound)
        )
        self.bias = nn.Parameter(torch.empty(3 * state_size).uniform_(-bound, bound))

    def step(self, x, h, c):
        gates = F.linear(torch.cat([h, x], dim=1), self.weights, self.bias)
        i, o, g = gates.chunk(3, dim=1)
        i = torch.sigmoid(i)
        o = torch.sigmoid(o)
        c = (1.0 - i) * c + i * F.elu(g)
        h = torch.tanh(c) * o
        return h, c

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        for t in range(x.size(0)):
            h, c = self.step(x[t], h, c)
        return h


def get_inputs():
    return [
        torch.randn(num_steps, batch_size, input_features),
        torch.randn(batch_size, state_size),
        torch.randn(batch_size, state_size),
    ]


def get_init_inputs():
    return [input_features, state_size]
