"""Each thread adds up some rows into a row of its own; the parts are added at the end."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <vector>

torch::Tensor forward(torch::Tensor x) {
    const int64_t rows = x.size(0), columns = x.size(1);
    const int64_t parts = at::get_num_threads();
    torch::Tensor held = torch::zeros({parts, columns}, x.options());
    const float* from = x.data_ptr<float>();
    float* to = held.data_ptr<float>();
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
            std::vector<float> sums(columns, 0.0f), few(columns);
            // Some rows at a time, so that long sums lose no digits.
            for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts;) {
                const int64_t stop = std::min(row + 64, rows * (part + 1) / parts);
                std::fill(few.begin(), few.end(), 0.0f);
                for (; row < stop; ++row)
                    for (int64_t i = 0; i < columns; ++i) few[i] += from[row * columns + i];
                for (int64_t i = 0; i < columns; ++i) sums[i] += few[i];
            }
            for (int64_t i = 0; i < columns; ++i) to[part * columns + i] = sums[i];
        }
    });
    return held.sum(0);
}
"""

extension = load_inline(
    name="sum_columns_parts_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
