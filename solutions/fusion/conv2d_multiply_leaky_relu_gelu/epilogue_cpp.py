"""The library's convolution, then scale, LeakyReLU and GELU by its tanh formula in one pass, on all threads."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>

static inline float gelu(float x) {
    // tanh(y) = 1 - 2 / (exp(2y) + 1), which the compiler turns into vector code; beyond 15 it is 1, and exp
    // must not overflow, since fast math may turn an infinity into NaN.
    const float y = std::min(0.7978845608f * (x + 0.044715f * x * x * x), 15.0f);
    return x - x / (std::exp(2.0f * y) + 1.0f);
}

void scale_leaky_gelu_(torch::Tensor x, torch::Tensor scale) {
    TORCH_CHECK(x.dim() == 4 && x.is_contiguous() && scale.is_contiguous(), "expected contiguous NCHW");
    const int64_t channels = x.size(1), plane = x.size(2) * x.size(3);
    float* data = x.data_ptr<float>();
    const float* scales = scale.data_ptr<float>();
    at::parallel_for(0, x.size(0) * channels, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float factor = scales[row % channels];
            float* values = data + row * plane;
            for (int64_t i = 0; i < plane; ++i) {
                const float v = values[i] * factor;
                values[i] = gelu(v > 0.0f ? v : 0.01f * v);
            }
        }
    });
}
"""

extension = load_inline(
    name="scale_leaky_gelu_cpp",
    cpp_sources=CPP,
    functions=["scale_leaky_gelu_"],
    extra_cflags=["-O3", "-march=native", "-ffast-math"],
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
