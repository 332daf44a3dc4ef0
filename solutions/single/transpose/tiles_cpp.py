"""In tiles that fit the first cache, so that every line that is loaded is used."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <algorithm>

constexpr int64_t TILE = 32;

torch::Tensor forward(torch::Tensor x) {
    const int64_t rows = x.size(0), columns = x.size(1);
    torch::Tensor out = torch::empty({columns, rows}, x.options());
    const float* from = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, (columns + TILE - 1) / TILE, 1, [&](int64_t begin, int64_t end) {
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t first = tile * TILE, last = std::min(first + TILE, columns);
            for (int64_t top = 0; top < rows; top += TILE) {
                const int64_t bottom = std::min(top + TILE, rows);
                for (int64_t column = first; column < last; ++column)
                    for (int64_t row = top; row < bottom; ++row) to[column * rows + row] = from[row * columns + column];
            }
        }
    });
    return out;
}
"""

extension = load_inline(
    name="transpose_tiles_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
