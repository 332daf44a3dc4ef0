import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1024
FEATURES = 4096
BETA = 1.5


class Model(nn.Module):
    """Three gating activations of the same half-precision input, stacked."""

    def __init__(self, beta: float):
        super().__init__()
        self.beta = beta

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        xf = x.float()
        exact = F.gelu(xf)
        approx = F.gelu(xf, approximate="tanh")
        swish = xf * torch.sigmoid(self.beta * xf)
        return torch.stack([exact, approx, swish]).to(x.dtype)


def get_inputs():
    return [torch.randn(BATCH, FEATURES).to(torch.float16)]


def get_init_inputs():
    return [BETA]
