"""A loop over the index of each row, rows over all threads."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>

torch::Tensor forward(torch::Tensor x, torch::Tensor index) {
    const int64_t rows = index.size(0), picked = index.size(1), columns = x.size(1);
    torch::Tensor out = torch::empty({rows, picked}, x.options());
    const float* from = x.data_ptr<float>();
    const int64_t* places = index.data_ptr<int64_t>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, rows, 4, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
            for (int64_t i = row * picked; i < (row + 1) * picked; ++i) to[i] = from[row * columns + places[i]];
    });
    return out;
}
"""

extension = load_inline(
    name="gather_rows_threads_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def forward(self, x, index):
        return extension.forward(x, index)
