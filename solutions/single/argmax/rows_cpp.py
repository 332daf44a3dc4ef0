"""The maximum first, which vectorises, then the first place where it is."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>

torch::Tensor forward(torch::Tensor x) {
    const int64_t rows = x.size(0), columns = x.size(1);
    torch::Tensor out = torch::empty({rows}, x.options().dtype(torch::kInt64));
    const float* source = x.data_ptr<float>();
    int64_t* to = out.data_ptr<int64_t>();
    at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float* from = source + row * columns;
            float highest = from[0];
            for (int64_t i = 1; i < columns; ++i) highest = from[i] > highest ? from[i] : highest;
            int64_t place = 0;
            while (from[place] != highest) ++place;
            to[row] = place;
        }
    });
    return out;
}
"""

extension = load_inline(
    name="argmax_rows_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-fno-trapping-math", "-fno-signed-zeros", "-fassociative-math"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
