"""Four tables a row, so that equal neighbours do not wait for each other's count."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <array>

torch::Tensor forward(torch::Tensor x) {
    const int64_t rows = x.size(0), columns = x.size(1);
    torch::Tensor out = torch::empty({rows, 256}, x.options().dtype(torch::kInt64));
    const uint8_t* source = x.data_ptr<uint8_t>();
    int64_t* target = out.data_ptr<int64_t>();
    at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            std::array<std::array<int64_t, 256>, 4> counts{};
            const uint8_t* from = source + row * columns;
            int64_t i = 0;
            for (; i + 4 <= columns; i += 4)
                for (int64_t lane = 0; lane < 4; ++lane) ++counts[lane][from[i + lane]];
            for (; i < columns; ++i) ++counts[0][from[i]];
            for (int64_t v = 0; v < 256; ++v)
                target[row * 256 + v] = counts[0][v] + counts[1][v] + counts[2][v] + counts[3][v];
        }
    });
    return out;
}
"""

extension = load_inline(
    name="histogram_four_tables_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def __init__(self, values):
        super().__init__()
        if values != 256:
            raise ValueError("for bytes")

    def forward(self, x):
        return extension.forward(x)
