"""One warp a row, four values a load, and the row stays in registers between the sum and the output."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int MOST = 8;  // loads of four a lane, rows of 1024

__device__ float sum_of_lanes(float sum) {
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    return sum;
}

__global__ void in_registers(const float4* from, const float4* scale, float4* to, int64_t rows, int columns) {
    const int64_t row = blockIdx.x * int64_t(blockDim.y) + threadIdx.y;
    if (row >= rows) return;
    from += row * columns;
    to += row * columns;
    float4 held[MOST];
    float sum = 0.0f;
#pragma unroll
    for (int part = 0; part < MOST; ++part) {
        const int i = part * 32 + threadIdx.x;
        held[part] = i < columns ? __ldcs(from + i) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        const float4 v = held[part];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    const float factor = 1.0f / fmaxf(sqrtf(sum_of_lanes(sum)), 1e-12f);
#pragma unroll
    for (int part = 0; part < MOST; ++part) {
        const int i = part * 32 + threadIdx.x;
        if (i >= columns) break;
        const float4 v = held[part], s = scale[i];
        __stcs(to + i, make_float4(v.x * factor * s.x, v.y * factor * s.y, v.z * factor * s.z, v.w * factor * s.w));
    }
}

__global__ void in_passes(const float* from, const float* scale, float* to, int64_t rows, int64_t columns) {
    const int64_t row = blockIdx.x * int64_t(blockDim.y) + threadIdx.y;
    if (row >= rows) return;
    from += row * columns;
    to += row * columns;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < columns; i += 32) sum += from[i] * from[i];
    const float factor = 1.0f / fmaxf(sqrtf(sum_of_lanes(sum)), 1e-12f);
    for (int64_t i = threadIdx.x; i < columns; i += 32) to[i] = from[i] * factor * scale[i];
}

torch::Tensor forward(torch::Tensor x, torch::Tensor scale) {
    torch::Tensor out = torch::empty_like(x);
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    const auto stream = c10::cuda::getCurrentCUDAStream();
    const dim3 threads(32, 8);
    const float *from = x.data_ptr<float>(), *factors = scale.data_ptr<float>();
    float* to = out.data_ptr<float>();
    if (columns % 4 == 0 && columns <= 32 * 4 * MOST)
        in_registers<<<(rows + 7) / 8, threads, 0, stream>>>(
            reinterpret_cast<const float4*>(from), reinterpret_cast<const float4*>(factors),
            reinterpret_cast<float4*>(to), rows, int(columns / 4));
    else
        in_passes<<<(rows + 7) / 8, threads, 0, stream>>>(from, factors, to, rows, columns);
    return out;
}
"""

extension = load_inline(
    name="normalise_and_scale_registers_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor scale);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.temperature = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return extension.forward(x, self.temperature)
