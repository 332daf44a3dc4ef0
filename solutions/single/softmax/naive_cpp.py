"""Three loops a row on one thread: maximum, exponentials and their sum, division."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <cmath>

torch::Tensor forward(torch::Tensor x) {
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    torch::Tensor out = torch::empty_like(x);
    const float* from = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    for (int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
        float highest = from[0], sum = 0.0f;
        for (int64_t i = 1; i < columns; ++i) highest = from[i] > highest ? from[i] : highest;
        for (int64_t i = 0; i < columns; ++i) sum += to[i] = std::exp(from[i] - highest);
        for (int64_t i = 0; i < columns; ++i) to[i] /= sum;
    }
    return out;
}
"""

extension = load_inline(
    name="softmax_naive_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O2"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
