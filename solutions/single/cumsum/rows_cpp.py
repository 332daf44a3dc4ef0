"""One running sum a row, in float64, rows over all threads."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>

torch::Tensor forward(torch::Tensor x) {
    const int64_t rows = x.size(0), columns = x.size(1);
    torch::Tensor out = torch::empty_like(x);
    const float* from = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            double sum = 0.0;
            for (int64_t i = row * columns; i < (row + 1) * columns; ++i) to[i] = float(sum += from[i]);
        }
    });
    return out;
}
"""

extension = load_inline(
    name="cumsum_rows_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
