"""Mean, then squares about it, then the output: a row stays in the cache for all three."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double epsilon) {
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    torch::Tensor out = torch::empty_like(x);
    const float *source = x.data_ptr<float>(), *scale = weight.data_ptr<float>(), *shift = bias.data_ptr<float>();
    float* target = out.data_ptr<float>();
    at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float* from = source + row * columns;
            float* to = target + row * columns;
            float sum = 0.0f, squares = 0.0f;
            for (int64_t i = 0; i < columns; ++i) sum += from[i];
            const float mean = sum / columns;
            for (int64_t i = 0; i < columns; ++i) squares += (from[i] - mean) * (from[i] - mean);
            const float factor = 1.0f / std::sqrt(squares / columns + float(epsilon));
            for (int64_t i = 0; i < columns; ++i) to[i] = (from[i] - mean) * factor * scale[i] + shift[i];
        }
    });
    return out;
}
"""

extension = load_inline(
    name="layer_norm_rows_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x):
        return extension.forward(x, self.norm.weight, self.norm.bias, self.norm.eps)
