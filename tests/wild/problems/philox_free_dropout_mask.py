import torch
import torch.nn as nn

TOKENS = 2048
DIM = 2048
P = 0.3
SEED = 20240917


class Model(nn.Module):
    """Feature corruption: counter-based dropout whose dropped entries become a learned fill value.

    The keep mask depends only on the element's flat index and the seed, so it is the same everywhere.
    """

    def __init__(self, dim: int, p: float, seed: int):
        super().__init__()
        self.p = p
        self.seed = seed
        self.fill = nn.Parameter(torch.randn(dim))

    def keep_mask(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.arange(x.numel(), device=x.device, dtype=torch.int64)
        h = h ^ ((self.seed * 0x9E3779B9) & 0xFFFFFFFF)
        for _ in range(2):
            h = (((h >> 16) ^ h) * 0x45D9F3B) & 0xFFFFFFFF
        h = (h >> 16) ^ h
        return (h >= int(self.p * 4294967296.0)).view(x.shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return x.clone()
        return torch.where(self.keep_mask(x), x * (1.0 / (1.0 - self.p)), self.fill)


def get_inputs():
    return [torch.randn(TOKENS, DIM)]


def get_init_inputs():
    return [DIM, P, SEED]
