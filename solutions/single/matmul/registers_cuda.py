"""Each thread keeps 8 by 8 sums of a tile in registers: 64 products for 16 loads from shared memory."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int TILE = 128, DEPTH = 16, EACH = 8, THREADS = (TILE / EACH) * (TILE / EACH);

__global__ void __launch_bounds__(THREADS) product(
    const float* a, const float* b, float* to, int rows, int inner, int columns) {
    __shared__ float left[DEPTH][TILE + 4], right[DEPTH][TILE];
    const int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    const int across = threadIdx.x % (TILE / EACH), down = threadIdx.x / (TILE / EACH);
    float sums[EACH][EACH] = {};
    for (int start = 0; start < inner; start += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int row = first_row + i / DEPTH, along = start + i % DEPTH;
            left[i % DEPTH][i / DEPTH] = row < rows && along < inner ? a[int64_t(row) * inner + along] : 0.0f;
        }
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int deep = start + i / TILE, column = first_column + i % TILE;
            right[i / TILE][i % TILE] = deep < inner && column < columns ? b[int64_t(deep) * columns + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float x[EACH], y[EACH];
#pragma unroll
            for (int i = 0; i < EACH; ++i) x[i] = left[k][down * EACH + i];
#pragma unroll
            for (int j = 0; j < EACH; ++j) y[j] = right[k][j / 4 * (TILE / 2) + across * 4 + j % 4];
#pragma unroll
            for (int i = 0; i < EACH; ++i)
#pragma unroll
                for (int j = 0; j < EACH; ++j) sums[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int row = first_row + down * EACH + i;
            const int column = first_column + j / 4 * (TILE / 2) + across * 4 + j % 4;
            if (row < rows && column < columns) to[int64_t(row) * columns + column] = sums[i][j];
        }
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
    const int rows = a.size(0), inner = a.size(1), columns = b.size(1);
    torch::Tensor out = torch::empty({rows, columns}, a.options());
    const dim3 blocks((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    product<<<blocks, THREADS, 0, c10::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), rows, inner, columns);
    return out;
}
"""

extension = load_inline(
    name="matmul_registers_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor a, torch::Tensor b);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.forward(a, b)
