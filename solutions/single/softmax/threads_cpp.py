"""The same three loops, rows spread over all threads."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>

torch::Tensor forward(torch::Tensor x) {
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    torch::Tensor out = torch::empty_like(x);
    const float* source = x.data_ptr<float>();
    float* target = out.data_ptr<float>();
    at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float* from = source + row * columns;
            float *to = target + row * columns, highest = from[0], sum = 0.0f;
            for (int64_t i = 1; i < columns; ++i) highest = from[i] > highest ? from[i] : highest;
            for (int64_t i = 0; i < columns; ++i) sum += to[i] = std::exp(from[i] - highest);
            for (int64_t i = 0; i < columns; ++i) to[i] /= sum;
        }
    });
    return out;
}
"""

extension = load_inline(
    name="softmax_threads_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O2"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
