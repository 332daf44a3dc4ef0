"""Sum of squares and output of a row behind each other, rows over all threads."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>

torch::Tensor forward(torch::Tensor x, torch::Tensor temperature) {
    const int64_t rows = x.size(0), columns = x.size(1);
    torch::Tensor out = torch::empty_like(x);
    const float *source = x.data_ptr<float>(), *scale = temperature.data_ptr<float>();
    float* target = out.data_ptr<float>();
    at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float* from = source + row * columns;
            float *to = target + row * columns, squares = 0.0f;
            for (int64_t i = 0; i < columns; ++i) squares += from[i] * from[i];
            const float factor = 1.0f / std::max(std::sqrt(squares), 1e-12f);
            for (int64_t i = 0; i < columns; ++i) to[i] = from[i] * factor * scale[i];
        }
    });
    return out;
}
"""

extension = load_inline(
    name="normalise_and_scale_rows_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.temperature = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return extension.forward(x, self.temperature)
