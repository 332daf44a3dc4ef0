"""One thread an output, straight from memory: each element of both factors is loaded thousands of times."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void product(const float* a, const float* b, float* to, int rows, int inner, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k) sum += a[int64_t(row) * inner + k] * b[int64_t(k) * columns + column];
    to[int64_t(row) * columns + column] = sum;
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
    const int rows = a.size(0), inner = a.size(1), columns = b.size(1);
    torch::Tensor out = torch::empty({rows, columns}, a.options());
    const dim3 threads(32, 8), blocks((columns + 31) / 32, (rows + 7) / 8);
    product<<<blocks, threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), rows, inner, columns);
    return out;
}
"""

extension = load_inline(
    name="matmul_naive_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor a, torch::Tensor b);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.forward(a, b)
