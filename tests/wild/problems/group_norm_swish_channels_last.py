import torch
import torch.nn as nn


class Model(nn.Module):
    """Group normalisation followed by swish, x * sigmoid(x), on a channels_last activation."""

    def __init__(self, num_groups: int, num_channels: int, eps: float):
        super().__init__()
        self.norm = nn.GroupNorm(num_groups, num_channels, eps=eps)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.uniform_(self.norm.bias, -0.5, 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        return y * torch.sigmoid(y)


batch_size = 16
num_channels = 256
num_groups = 32
height = 64
width = 64
eps = 1e-5


def get_inputs():
    x = torch.randn(batch_size, num_channels, height, width)
    return [x.to(memory_format=torch.channels_last)]


def get_init_inputs():
    return [num_groups, num_channels, eps]
