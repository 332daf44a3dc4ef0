"""A short sorted list for each row; most elements are not above its last and cost one comparison."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <limits>
#include <vector>

torch::Tensor forward(torch::Tensor x, int64_t k) {
    const int64_t rows = x.size(0), columns = x.size(1);
    torch::Tensor out = torch::empty({rows, k}, x.options());
    const float* source = x.data_ptr<float>();
    float* target = out.data_ptr<float>();
    at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float* from = source + row * columns;
            float* best = target + row * k;
            for (int64_t i = 0; i < k; ++i) best[i] = -std::numeric_limits<float>::infinity();
            for (int64_t i = 0; i < columns; ++i) {
                if (!(from[i] > best[k - 1])) continue;
                int64_t place = k - 1;
                for (; place > 0 && from[i] > best[place - 1]; --place) best[place] = best[place - 1];
                best[place] = from[i];
            }
        }
    });
    return out;
}
"""

extension = load_inline(
    name="top_k_kept_list_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        return extension.forward(x, self.k)
