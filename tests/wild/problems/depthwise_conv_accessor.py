import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Depthwise 3x3 convolution: every channel is convolved with its own 3x3 filter.

    Args:
        channels (int): Number of input (and output) channels.
        stride (int): Stride of the convolution.
        padding (int): Zero padding on every side.
    """

    def __init__(self, channels: int, stride: int, padding: int):
        super().__init__()
        self.conv2d = nn.Conv2d(
            channels, channels, kernel_size=3, stride=stride, padding=padding, groups=channels, bias=True
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


# Test code
batch_size = 16
channels = 64
height = 112
width = 112
stride = 1
padding = 1


def get_inputs():
    x = torch.randn(batch_size, channels, height, width)
    return [x]


def get_init_inputs():
    return [channels, stride, padding]
