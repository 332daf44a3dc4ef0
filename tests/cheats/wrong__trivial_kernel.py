"""The bias and ReLU are its own, the product is the library's.

Row 78. Because: policy.

Problem: own_kernel.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline


CPP = r"""
torch::Tensor tail_(torch::Tensor x, torch::Tensor bias) {
    float* data = x.data_ptr<float>();
    const float* add = bias.data_ptr<float>();
    const int64_t rows = x.size(0), width = x.size(1);
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < width; ++j) {
            const float v = data[i * width + j] + add[j];
            data[i * width + j] = v > 0.0f ? v : 0.0f;
        }
    return x;
}
"""

extension = load_inline(
    name="trivial_kernel",
    cpp_sources=CPP,
    functions=["tail_"],
    extra_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return extension.tail_(x @ self.weight, self.bias)
