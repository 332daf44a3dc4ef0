"""A block sorts its row in shared memory by a bitonic network: memory is read once and written once."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int THREADS = 512;

__global__ void sort(const float* from, float* to, int columns, int width) {
    extern __shared__ float row[];
    from += blockIdx.x * int64_t(columns);
    to += blockIdx.x * int64_t(columns);
    for (int i = threadIdx.x; i < width; i += THREADS) row[i] = i < columns ? from[i] : INFINITY;
    for (int length = 2; length <= width; length *= 2)
        for (int apart = length / 2; apart; apart /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < width / 2; i += THREADS) {
                const int low = i / apart * apart * 2 + i % apart, high = low + apart;
                const float left = row[low], right = row[high];
                if ((left > right) == ((low & length) == 0)) {
                    row[low] = right;
                    row[high] = left;
                }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += THREADS) to[i] = row[i];
}

torch::Tensor forward(torch::Tensor x) {
    torch::Tensor out = torch::empty_like(x);
    const int columns = x.size(1);
    int width = 2;
    while (width < columns) width *= 2;
    TORCH_CHECK(width <= 8192, "rows of 8192 at most");
    sort<<<x.size(0), THREADS, width * sizeof(float), c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), columns, width);
    return out;
}
"""

extension = load_inline(
    name="sort_bitonic_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
