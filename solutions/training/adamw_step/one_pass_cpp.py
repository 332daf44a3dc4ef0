"""Everything of an element at once: four reads, three writes."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>
#include <tuple>

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> step(
    torch::Tensor weight, torch::Tensor gradient, torch::Tensor mean, torch::Tensor root,
    double shrink, double size, double first, double second, double correction, double epsilon) {
    torch::Tensor new_weight = torch::empty_like(weight), new_mean = torch::empty_like(weight);
    torch::Tensor square = torch::empty_like(weight);
    const float *w = weight.data_ptr<float>(), *g = gradient.data_ptr<float>();
    const float *m = mean.data_ptr<float>(), *r = root.data_ptr<float>();
    float *to_w = new_weight.data_ptr<float>(), *to_m = new_mean.data_ptr<float>(), *to_s = square.data_ptr<float>();
    const float a = first, b = second, keep = shrink, rate = size, bias = 1.0 / correction, least = epsilon;
    at::parallel_for(0, weight.numel(), 1 << 13, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            to_m[i] = a * m[i] + (1.0f - a) * g[i];
            to_s[i] = b * r[i] * r[i] + (1.0f - b) * g[i] * g[i];
            to_w[i] = w[i] * keep - rate * to_m[i] / (std::sqrt(to_s[i] * bias) + least);
        }
    });
    return {new_weight, new_mean, square};
}
"""

extension = load_inline(
    name="adamw_step_one_pass_cpp",
    cpp_sources=CPP,
    functions=["step"],
    extra_cflags=["-O3", "-march=native", "-fno-math-errno"],
)


class ModelNew(nn.Module):
    def __init__(self, rate, decay, first, second, epsilon, step):
        super().__init__()
        shrink, size = 1 - rate * decay, rate / (1 - first**step)
        self.constants = shrink, size, first, second, 1 - second**step, epsilon

    def forward(self, weight, gradient, mean, root):
        return extension.step(weight, gradient, mean, root, *self.constants)
