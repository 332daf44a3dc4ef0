"""The sequence as an image of one row, for which libraries have more kernels."""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv1d(channels, filters, 3, stride=2, padding=1)

    def forward(self, x):
        weight = self.conv.weight[:, :, None]
        image = nn.functional.conv2d(x[:, :, None], weight, self.conv.bias, stride=(1, 2), padding=(0, 1))
        return nn.functional.gelu(image[:, :, 0])
