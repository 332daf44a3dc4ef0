"""The tail as one plain loop on one thread, in place, with the exact GELU."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <cmath>

void scale_leaky_gelu_(torch::Tensor x, torch::Tensor multiplier) {
    float* data = x.data_ptr<float>();
    const float* factors = multiplier.data_ptr<float>();
    const int64_t channels = x.size(1), inner = x.size(2) * x.size(3);
    for (int64_t row = 0; row < x.size(0) * channels; ++row) {
        const float factor = factors[row % channels];
        for (int64_t i = 0; i < inner; ++i) {
            float v = data[row * inner + i] * factor;
            v = v > 0.0f ? v : 0.01f * v;
            data[row * inner + i] = 0.5f * v * (1.0f + std::erf(v * 0.70710678f));
        }
    }
}
"""

extension = load_inline(
    name="scale_leaky_gelu_naive",
    cpp_sources=CPP,
    functions=["scale_leaky_gelu_"],
    extra_cflags=["-O2"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))

    def forward(self, x):
        x = self.conv(x).contiguous()
        extension.scale_leaky_gelu_(x, self.multiplier)
        return x
