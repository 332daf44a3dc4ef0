"""One step of an LSTM for many sequences: a product that makes four gates, and the update of cell and output.

In speech and control, where each step waits for the last. The gates are a row of elementwise work behind the product,
which a good solution does where the product's result is.
"""

import torch
from torch import nn

batch, width, hidden = 4096, 512, 512

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=64, width=64, hidden=64),
        "odd": dict(batch=333, width=77, hidden=129),
    },
    flops=8 * batch * hidden * (width + hidden),
    tags=["product", "gate", "recurrent"],
)


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(width, hidden)

    def forward(self, x, output, state):
        return self.cell(x, (output, state))


def get_inputs():
    return [torch.randn(batch, width), torch.randn(batch, hidden), torch.randn(batch, hidden)]


def get_init_inputs():
    return [width, hidden]
