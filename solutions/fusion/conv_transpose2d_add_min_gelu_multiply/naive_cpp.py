"""The tail as one plain loop on one thread, in place, with the exact GELU."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <algorithm>
#include <cmath>

void add_min_gelu_multiply_(torch::Tensor x, double add, double factor) {
    float* data = x.data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); ++i) {
        const float v = std::min(data[i] + float(add), 0.0f);
        data[i] = 0.5f * v * (1.0f + std::erf(v * 0.70710678f)) * float(factor);
    }
}
"""

extension = load_inline(
    name="add_min_gelu_multiply_naive",
    cpp_sources=CPP,
    functions=["add_min_gelu_multiply_"],
    extra_cflags=["-O2"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, add_value, multiply_value):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride)
        self.add_value = add_value
        self.multiply_value = multiply_value

    def forward(self, x):
        x = self.conv_transpose(x).contiguous()
        extension.add_min_gelu_multiply_(x, self.add_value, self.multiply_value)
        return x
