"""Blocks of 32 columns by 8 rows go down a part of the matrix each and add their sums atomically."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void partial(const float* from, float* to, int64_t rows, int64_t columns, int64_t part) {
    __shared__ float sums[8][33];
    const int64_t column = blockIdx.x * 32LL + threadIdx.x;
    const int64_t last = min(rows, (blockIdx.y + 1) * part);
    float sum = 0.0f;
    if (column < columns)
        for (int64_t row = blockIdx.y * part + threadIdx.y; row < last; row += 8) sum += from[row * columns + column];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int line = 1; line < 8; ++line) sum += sums[line][threadIdx.x];
        atomicAdd(to + column, sum);
    }
}

torch::Tensor forward(torch::Tensor x) {
    const int64_t rows = x.size(0), columns = x.size(1), part = 512;
    torch::Tensor out = torch::zeros({columns}, x.options());
    const dim3 blocks((columns + 31) / 32, (rows + part - 1) / part), threads(32, 8);
    partial<<<blocks, threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), rows, columns, part);
    return out;
}
"""

extension = load_inline(
    name="sum_columns_split_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
