"""Difference, cut-off and mean in one pass over both inputs."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>

torch::Tensor forward(torch::Tensor x, torch::Tensor target, double delta) {
    const int64_t rows = x.size(0), columns = x.size(1);
    torch::Tensor out = torch::empty({rows}, x.options());
    const float *left = x.data_ptr<float>(), *right = target.data_ptr<float>();
    float* to = out.data_ptr<float>();
    const float edge = float(delta);
    at::parallel_for(0, rows, 16, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            float sum = 0.0f;
            for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
                const float far = std::fabs(left[i] - right[i]), near = far < edge ? far : edge;
                sum += near * (far - 0.5f * near);
            }
            to[row] = sum / columns;
        }
    });
    return out;
}
"""

extension = load_inline(
    name="huber_loss_one_pass_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
)


class ModelNew(nn.Module):
    def __init__(self, delta):
        super().__init__()
        self.delta = delta

    def forward(self, x, target):
        return extension.forward(x, target, self.delta)
