"""One thread a row: neighbours read a whole row apart, so that most of what memory sends is thrown away."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void normalise(const float* from, const float* scale, float* to, int64_t rows, int64_t columns) {
    const int64_t row = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    from += row * columns;
    to += row * columns;
    float sum = 0.0f;
    for (int64_t i = 0; i < columns; ++i) sum += from[i] * from[i];
    const float factor = 1.0f / fmaxf(sqrtf(sum), 1e-12f);
    for (int64_t i = 0; i < columns; ++i) to[i] = from[i] * factor * scale[i];
}

torch::Tensor forward(torch::Tensor x, torch::Tensor scale) {
    torch::Tensor out = torch::empty_like(x);
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    normalise<<<(rows + 127) / 128, 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), scale.data_ptr<float>(), out.data_ptr<float>(), rows, columns);
    return out;
}
"""

extension = load_inline(
    name="normalise_and_scale_naive_cuda",
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
