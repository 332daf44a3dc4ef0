"""A layer of experts: each token is sent to the two of eight networks that a router scores highest, and their answers
are added with the router's weights.

Tokens arrive in any order and experts get as many as they get: the work is sorting tokens by expert, products of
uneven sizes in one launch, and bringing the results back.
"""

import torch
from torch import nn

tokens, width, hidden, experts, chosen = 15360, 1024, 2048, 8, 2

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(tokens=128, width=64, hidden=128),
        "odd": dict(tokens=333, width=130, hidden=257, experts=5),
    },
    flops=4 * tokens * chosen * width * hidden,
    tags=["product", "routing"],
)


class Model(nn.Module):
    def __init__(self, width, hidden, experts, chosen):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        nn.init.orthogonal_(self.router.weight)  # no expert is chosen more often, as training sees to it
        self.up = nn.Parameter(torch.randn(experts, width, hidden) / width**0.5)
        self.down = nn.Parameter(torch.randn(experts, hidden, width) / hidden**0.5)
        self.chosen = chosen

    def forward(self, x):
        weights, places = self.router(x).topk(self.chosen, dim=-1)
        weights = torch.softmax(weights, dim=-1)
        out = torch.zeros_like(x)
        for expert in range(self.up.shape[0]):
            token, rank = (places == expert).nonzero(as_tuple=True)
            answer = torch.relu(x[token] @ self.up[expert]) @ self.down[expert]
            out = out.index_add(0, token, answer * weights[token, rank, None])
        return out


def get_inputs():
    return [torch.randn(tokens, width)]


def get_init_inputs():
    return [width, hidden, experts, chosen]
