"""Row by row of the output, each element from another row of the input."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>

torch::Tensor forward(torch::Tensor x) {
    const int64_t rows = x.size(0), columns = x.size(1);
    torch::Tensor out = torch::empty({columns, rows}, x.options());
    const float* from = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, columns, 1, [&](int64_t begin, int64_t end) {
        for (int64_t column = begin; column < end; ++column)
            for (int64_t row = 0; row < rows; ++row) to[column * rows + row] = from[row * columns + column];
    });
    return out;
}
"""

extension = load_inline(
    name="transpose_naive_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
