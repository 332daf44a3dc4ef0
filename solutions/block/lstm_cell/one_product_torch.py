"""Input and output behind each other, weights packed at the first call: one product makes all gates."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(width, hidden)
        self.packed = None

    def forward(self, x, output, state):
        if self.packed is None:
            weight = torch.cat((self.cell.weight_ih, self.cell.weight_hh), dim=1)
            self.packed = weight, self.cell.bias_ih + self.cell.bias_hh
        gates = nn.functional.linear(torch.cat((x, output), dim=1), *self.packed)
        taken, kept, new, shown = gates.chunk(4, dim=1)
        state = torch.sigmoid(kept) * state + torch.sigmoid(taken) * torch.tanh(new)
        return torch.sigmoid(shown) * torch.tanh(state), state
