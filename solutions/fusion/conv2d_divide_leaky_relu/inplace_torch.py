"""Plain PyTorch: the division goes into the convolution's weights, and LeakyReLU works in place."""

from torch import nn
from torch.nn import functional as F


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.divisor = divisor

    def forward(self, x):
        weight, bias = self.conv.weight / self.divisor, self.conv.bias / self.divisor
        return F.leaky_relu_(F.conv2d(x, weight, bias), negative_slope=0.01)
