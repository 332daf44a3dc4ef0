import torch
import torch.nn as nn
import torch.nn.functional as F

GROUPS = 8
TOKENS = 256
D_IN = 512
D_HIDDEN = 1024
D_OUT = 512


class Model(nn.Module):
    """
    One two-layer SiLU MLP per group (as in an expert layer with evenly routed
    tokens), followed by a SiLU projection that all of the groups share.
    """

    def __init__(self, groups, d_in, d_hidden, d_out):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(groups, d_in, d_hidden) * d_in**-0.5)
        self.b1 = nn.Parameter(torch.randn(groups, d_hidden) * 0.1)
        self.w2 = nn.Parameter(torch.randn(groups, d_hidden, d_out) * d_hidden**-0.5)
        self.b2 = nn.Parameter(torch.randn(groups, d_out) * 0.1)
        self.proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        h = F.silu(torch.matmul(x, self.w1) + self.b1.unsqueeze(1))
        y = F.silu(torch.matmul(h, self.w2) + self.b2.unsqueeze(1))
        return F.silu(self.proj(y))


def get_inputs():
    return [torch.randn(GROUPS, TOKENS, D_IN)]


def get_init_inputs():
    return [GROUPS, D_IN, D_HIDDEN, D_OUT]
