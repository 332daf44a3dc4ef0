"""Rows over all threads, and an exponential that the compiler can vectorise: a power of two from the exponent's bits,
the rest by a polynomial.
"""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>
#include <cstdint>
#include <cstring>

// For arguments up to 0: 2^whole by bits, e^rest by a polynomial that is good to float32.
static inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    const float whole = std::floor(x * 1.44269504f + 0.5f);
    const float rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float value = 1.9875691500e-4f;
    value = value * rest + 1.3981999507e-3f;
    value = value * rest + 8.3334519073e-3f;
    value = value * rest + 4.1665795894e-2f;
    value = value * rest + 1.6666665459e-1f;
    value = value * rest + 5.0000001201e-1f;
    value = value * rest * rest + rest + 1.0f;
    const int32_t bits = (int32_t(whole) + 127) << 23;
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return value * power;
}

torch::Tensor forward(torch::Tensor x) {
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    torch::Tensor out = torch::empty_like(x);
    const float* source = x.data_ptr<float>();
    float* target = out.data_ptr<float>();
    at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float* from = source + row * columns;
            float *to = target + row * columns, highest = from[0], sum = 0.0f;
            for (int64_t i = 1; i < columns; ++i) highest = from[i] > highest ? from[i] : highest;
            for (int64_t i = 0; i < columns; ++i) to[i] = exponential(from[i] - highest);
            for (int64_t i = 0; i < columns; ++i) sum += to[i];
            const float factor = 1.0f / sum;
            for (int64_t i = 0; i < columns; ++i) to[i] *= factor;
        }
    });
    return out;
}
"""

extension = load_inline(
    name="softmax_vector_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=[
        "-O3",
        "-march=native",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fassociative-math",
        "-fno-signed-zeros",
    ],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
