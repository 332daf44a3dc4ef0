"""The library's convolution, then division and LeakyReLU in one pass, in place, on all threads."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>

void divide_leaky_relu_(torch::Tensor x, double divisor) {
    TORCH_CHECK(x.is_contiguous() && x.scalar_type() == torch::kFloat32, "expected contiguous float32");
    float* data = x.data_ptr<float>();
    const float factor = float(1.0 / divisor);
    at::parallel_for(0, x.numel(), 1 << 14, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const float v = data[i] * factor;
            data[i] = v > 0.0f ? v : 0.01f * v;
        }
    });
}
"""

extension = load_inline(
    name="divide_leaky_relu_cpp",
    cpp_sources=CPP,
    functions=["divide_leaky_relu_"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.divisor = divisor

    def forward(self, x):
        x = self.conv(x).contiguous()
        extension.divide_leaky_relu_(x, self.divisor)
        return x
