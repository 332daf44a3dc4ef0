"""Tiles of 32 by 32 of both factors in shared memory: each element is loaded from memory 32 times less often."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int TILE = 32;

__global__ void product(const float* a, const float* b, float* to, int rows, int inner, int columns) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < inner; start += TILE) {
        const int along = start + threadIdx.x, down = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < rows && along < inner ? a[int64_t(row) * inner + along] : 0.0f;
        right[threadIdx.y][threadIdx.x] = down < inner && column < columns ? b[int64_t(down) * columns + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns) to[int64_t(row) * columns + column] = sum;
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
    const int rows = a.size(0), inner = a.size(1), columns = b.size(1);
    torch::Tensor out = torch::empty({rows, columns}, a.options());
    const dim3 threads(TILE, TILE), blocks((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    product<<<blocks, threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), rows, inner, columns);
    return out;
}
"""

extension = load_inline(
    name="matmul_shared_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor a, torch::Tensor b);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.forward(a, b)
