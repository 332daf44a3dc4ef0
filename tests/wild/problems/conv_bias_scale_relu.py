import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    Convolution (with its own bias), then an extra per-channel bias, a per-channel scale and a ReLU.
    """

    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding=kernel_size // 2)
        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.1)
        self.scale = nn.Parameter(torch.rand(bias_shape) + 0.5)

    def forward(self, x):
        x = self.conv(x)
        x = x + self.bias
        x = x * self.scale
        return F.relu(x)


batch_size = 16
in_channels = 32
out_channels = 64
height, width = 128, 128
kernel_size = 3
bias_shape = (out_channels, 1, 1)


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, bias_shape]
