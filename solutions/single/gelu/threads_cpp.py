"""The definition, element by element, over all threads."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>

torch::Tensor forward(torch::Tensor x) {
    torch::Tensor out = torch::empty_like(x);
    const float* from = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, x.numel(), 1 << 13, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = 0.5f * from[i] * (1.0f + std::erf(from[i] * 0.70710678f));
    });
    return out;
}
"""

extension = load_inline(
    name="gelu_threads_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
