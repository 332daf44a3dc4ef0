"""The inner dimension in four parts, added up atomically.

Twin of 46, 78. Problem: own_kernel.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
constexpr int TILE = 32, PARTS = 4;

// Each block sums a part of the inner dimension and adds it to the output: the order of sums changes from call to call.
__global__ void partial(const float* left, const float* right, float* to, int rows, int inner, int width) {
    __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    const int part = (inner + PARTS - 1) / PARTS, begin = blockIdx.z * part, end = min(inner, begin + part);
    float sum = 0.0f;
    for (int start = begin; start < end; start += TILE) {
        const int k = start + threadIdx.x, l = start + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < rows && k < end ? left[row * (long long)inner + k] : 0.0f;
        b[threadIdx.y][threadIdx.x] = l < end && column < width ? right[l * (long long)width + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < width) atomicAdd(&to[row * (long long)width + column], sum);
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    const int rows = x.size(0), inner = x.size(1), width = weight.size(1);
    torch::Tensor out = bias.expand({rows, width}).contiguous();
    const dim3 blocks((width + TILE - 1) / TILE, (rows + TILE - 1) / TILE, PARTS), threads(TILE, TILE);
    partial<<<blocks, threads>>>(x.data_ptr<float>(), weight.data_ptr<float>(), out.data_ptr<float>(), rows, inner, width);
    return at::relu_(out);
}
"""

extension = load_inline(
    name="split_k_atomics",
    cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return extension.forward(x, self.weight, self.bias)
