import torch
import torch.nn as nn

BATCH = 16
SEQ_LEN = 128
CHANNELS = 1024


class Model(nn.Module):
    """
    Gated linear recurrence over time

        a_t = sigmoid(gate_t + bias)
        b_t = (1 - a_t) * x_t
        h_t = a_t * h_{t-1} + b_t

    returning every state h_1 ... h_T. The bias spreads the channels over short
    and long time constants.
    """

    def __init__(self, channels: int):
        super().__init__()
        self.bias = nn.Parameter(torch.linspace(-1.0, 3.0, channels))

    def forward(self, x: torch.Tensor, gate: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
        # x, gate: (B, T, C), h0: (B, C)
        a = torch.sigmoid(gate + self.bias)
        b = (1.0 - a) * x
        h = h0
        states = []
        for t in range(x.shape[1]):
            h = torch.addcmul(b[:, t], a[:, t], h)
            states.append(h)
        return torch.stack(states, dim=1)


def get_inputs():
    x = torch.randn(BATCH, SEQ_LEN, CHANNELS)
    gate = torch.randn(BATCH, SEQ_LEN, CHANNELS)
    h0 = torch.randn(BATCH, CHANNELS)
    return [x, gate, h0]


def get_init_inputs():
    return [CHANNELS]
