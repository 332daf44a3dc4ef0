"""The library's transposed convolution, then its whole elementwise tail in one pass, on all threads."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>

void add_min_gelu_multiply_(torch::Tensor x, double shift, double factor) {
    TORCH_CHECK(x.is_contiguous() && x.scalar_type() == torch::kFloat32, "expected contiguous float32");
    float* data = x.data_ptr<float>();
    const float added = float(shift), scaled = float(factor);
    at::parallel_for(0, x.numel(), 1 << 14, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const float v = std::min(data[i] + added, 0.0f);
            const float y = 0.7978845608f * (v + 0.044715f * v * v * v);
            data[i] = scaled * (v - v / (std::exp(2.0f * y) + 1.0f));
        }
    });
}
"""

extension = load_inline(
    name="add_min_gelu_multiply_cpp",
    cpp_sources=CPP,
    functions=["add_min_gelu_multiply_"],
    extra_cflags=["-O3", "-march=native", "-ffast-math"],
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
