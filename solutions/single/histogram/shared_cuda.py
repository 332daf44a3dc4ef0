"""Counters in shared memory, a set for each warp, and sixteen bytes a load; the sets are added up at the end."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int THREADS = 256, WARPS = THREADS / 32, VALUES = 256;

__global__ void count(const uint8_t* from, unsigned long long* to, int64_t columns, int64_t part) {
    __shared__ unsigned counters[WARPS][VALUES];
    for (int i = threadIdx.x; i < WARPS * VALUES; i += THREADS) counters[0][i] = 0;
    __syncthreads();
    unsigned* own = counters[threadIdx.x / 32];
    from += blockIdx.y * columns;
    const int64_t first = blockIdx.x * part, last = min(columns, first + part);
    const bool aligned = (reinterpret_cast<uintptr_t>(from + first) & 15) == 0;
    const int64_t whole = aligned ? first + (last - first) / 16 * 16 : first;
    for (int64_t i = first + threadIdx.x * 16; i < whole; i += THREADS * 16) {
        const uint4 wide = *reinterpret_cast<const uint4*>(from + i);
        for (unsigned word : {wide.x, wide.y, wide.z, wide.w})
            for (int shift = 0; shift < 32; shift += 8) atomicAdd(own + (word >> shift & 255), 1u);
    }
    for (int64_t i = whole + threadIdx.x; i < last; i += THREADS) atomicAdd(own + from[i], 1u);
    __syncthreads();
    for (int value = threadIdx.x; value < VALUES; value += THREADS) {
        unsigned long long sum = 0;
        for (int warp = 0; warp < WARPS; ++warp) sum += counters[warp][value];
        if (sum) atomicAdd(to + blockIdx.y * VALUES + value, sum);
    }
}

torch::Tensor forward(torch::Tensor x) {
    const int64_t rows = x.size(0), columns = x.size(1), part = 1 << 15;
    torch::Tensor out = torch::zeros({rows, VALUES}, x.options().dtype(torch::kInt64));
    const dim3 blocks((columns + part - 1) / part, rows);
    count<<<blocks, THREADS, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<uint8_t>(), reinterpret_cast<unsigned long long*>(out.data_ptr<int64_t>()), columns, part);
    return out;
}
"""

extension = load_inline(
    name="histogram_shared_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, values):
        super().__init__()
        assert values == 256

    def forward(self, x):
        return extension.forward(x)
