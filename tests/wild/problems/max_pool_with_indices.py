import torch
import torch.nn as nn


class Model(nn.Module):
    """
    2D max pooling that also returns, for every output, the flat position (h * W + w)
    of the maximum inside its input plane.
    """

    def __init__(self, kernel_size: int, stride: int, padding: int):
        super(Model, self).__init__()
        self.maxpool = nn.MaxPool2d(
            kernel_size=kernel_size, stride=stride, padding=padding, return_indices=True
        )

    def forward(self, x: torch.Tensor):
        values, indices = self.maxpool(x)
        return values, indices


batch_size = 32
channels = 64
height = 112
width = 112
kernel_size = 3
stride = 2
padding = 1


def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return [kernel_size, stride, padding]
