"""The sum is written and normalised while its row is in the cache."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>
#include <tuple>

std::tuple<torch::Tensor, torch::Tensor> forward(
    torch::Tensor x, torch::Tensor residual, torch::Tensor weight, torch::Tensor bias, double epsilon) {
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    torch::Tensor out = torch::empty_like(x), total = torch::empty_like(x);
    const float *left = x.data_ptr<float>(), *right = residual.data_ptr<float>();
    const float *scale = weight.data_ptr<float>(), *shift = bias.data_ptr<float>();
    float *normal = out.data_ptr<float>(), *sums = total.data_ptr<float>();
    at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const int64_t first = row * columns;
            float sum = 0.0f, squares = 0.0f;
            for (int64_t i = first; i < first + columns; ++i) {
                sums[i] = left[i] + right[i];
                sum += sums[i];
            }
            const float mean = sum / columns;
            for (int64_t i = first; i < first + columns; ++i) squares += (sums[i] - mean) * (sums[i] - mean);
            const float factor = 1.0f / std::sqrt(squares / columns + float(epsilon));
            for (int64_t i = 0; i < columns; ++i)
                normal[first + i] = (sums[first + i] - mean) * factor * scale[i] + shift[i];
        }
    });
    return {out, total};
}
"""

extension = load_inline(
    name="residual_layer_norm_rows_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x, residual):
        return extension.forward(x, residual, self.norm.weight, self.norm.bias, self.norm.eps)
