"""Scale, LeakyReLU and GELU as one autograd function on the CPU, recomputing instead of keeping."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>

constexpr float SLOPE = 0.01f;

// The normal distribution by Abramowitz and Stegun 7.1.26, off by 1e-7 at most: unlike std::erf it becomes vector
// code, and it shares its exponential with the density.
struct Normal {
    float cdf, density;
};

static inline Normal normal(float x) {
    const float a = std::abs(x) * 0.70710678118654752f;
    const float e = std::exp(-a * a), t = 1.0f / (1.0f + 0.3275911f * a);
    const float tail = 0.5f * e * t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f
                       + t * (-1.453152027f + t * 1.061405429f))));
    return {x > 0.0f ? 1.0f - tail : tail, 0.3989422804f * e};
}

torch::Tensor tail_forward(torch::Tensor z, torch::Tensor scale) {
    auto y = torch::empty_like(z);
    const int64_t channels = z.size(1), plane = z.size(2) * z.size(3);
    const float *in = z.data_ptr<float>(), *scales = scale.data_ptr<float>();
    float* out = y.data_ptr<float>();
    at::parallel_for(0, z.size(0) * channels, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float m = scales[row % channels];
            for (int64_t i = row * plane; i < (row + 1) * plane; ++i) {
                const float u = in[i] * m, v = u > 0.0f ? u : SLOPE * u;
                out[i] = v * normal(v).cdf;
            }
        }
    });
    return y;
}

std::vector<torch::Tensor> tail_backward(torch::Tensor z, torch::Tensor scale, torch::Tensor dy) {
    auto dz = torch::empty_like(z);
    auto dm = torch::zeros_like(scale);
    const int64_t batch = z.size(0), channels = z.size(1), plane = z.size(2) * z.size(3);
    const float *in = z.data_ptr<float>(), *scales = scale.data_ptr<float>(), *up = dy.data_ptr<float>();
    float *down = dz.data_ptr<float>(), *sums = dm.data_ptr<float>();
    at::parallel_for(0, channels, 1, [&](int64_t begin, int64_t end) {
        for (int64_t channel = begin; channel < end; ++channel) {
            const float m = scales[channel];
            double total = 0.0;
            for (int64_t image = 0; image < batch; ++image) {
                const int64_t base = (image * channels + channel) * plane;
                float sum = 0.0f;
                for (int64_t i = base; i < base + plane; ++i) {
                    const float u = in[i] * m, leak = u > 0.0f ? 1.0f : SLOPE, v = leak * u;
                    const Normal n = normal(v);
                    const float du = up[i] * (n.cdf + v * n.density) * leak;
                    down[i] = du * m;
                    sum += du * in[i];
                }
                total += sum;
            }
            sums[channel] = float(total);
        }
    });
    return {dz, dm};
}
"""

extension = load_inline(
    name="scale_leaky_gelu_training_cpp",
    cpp_sources=CPP,
    functions=["tail_forward", "tail_backward"],
    extra_cflags=["-O3", "-march=native", "-ffast-math"],
)


class Tail(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, scale):
        ctx.save_for_backward(z, scale)
        return extension.tail_forward(z, scale)

    @staticmethod
    def backward(ctx, dy):
        z, scale = ctx.saved_tensors
        return tuple(extension.tail_backward(z, scale, dy.contiguous()))


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))

    def forward(self, x):
        return Tail.apply(self.conv(x).contiguous(), self.multiplier)
