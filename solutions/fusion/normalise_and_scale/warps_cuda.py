"""One warp a row: neighbours read neighbours, and the sum takes five exchanges between lanes."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void normalise(const float* from, const float* scale, float* to, int64_t rows, int64_t columns) {
    const int64_t row = blockIdx.x * int64_t(blockDim.y) + threadIdx.y;
    if (row >= rows) return;
    from += row * columns;
    to += row * columns;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < columns; i += 32) sum += from[i] * from[i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    const float factor = 1.0f / fmaxf(sqrtf(sum), 1e-12f);
    for (int64_t i = threadIdx.x; i < columns; i += 32) to[i] = from[i] * factor * scale[i];
}

torch::Tensor forward(torch::Tensor x, torch::Tensor scale) {
    torch::Tensor out = torch::empty_like(x);
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    normalise<<<(rows + 7) / 8, dim3(32, 8), 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), scale.data_ptr<float>(), out.data_ptr<float>(), rows, columns);
    return out;
}
"""

extension = load_inline(
    name="normalise_and_scale_warps_cuda",
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
