"""One block a row; the row stays in registers between mean, variance and output."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int THREADS = 256;

template <typename Join>
__device__ float across_block(float value, float neutral, Join join) {
    __shared__ float parts[THREADS / 32];
    for (int step = 16; step; step /= 2) value = join(value, __shfl_xor_sync(~0u, value, step));
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < THREADS / 32 ? parts[threadIdx.x % 32] : neutral;
    for (int step = 16; step; step /= 2) value = join(value, __shfl_xor_sync(~0u, value, step));
    return value;
}

struct Larger { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };

constexpr int MOST = 32;

__global__ void normalise(const float* from, const float* scale, const float* shift, float* to, int columns,
                          float epsilon) {
    from += blockIdx.x * int64_t(columns);
    to += blockIdx.x * int64_t(columns);
    float held[MOST], sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int part = 0; part < MOST; ++part) {
        const int i = part * THREADS + threadIdx.x;
        held[part] = i < columns ? from[i] : 0.0f;
        sum += held[part];
    }
    const float mean = across_block(sum, 0.0f, Sum()) / columns;
#pragma unroll
    for (int part = 0; part < MOST; ++part) {
        const float off = part * THREADS + threadIdx.x < columns ? held[part] - mean : 0.0f;
        squares += off * off;
    }
    const float factor = rsqrtf(across_block(squares, 0.0f, Sum()) / columns + epsilon);
#pragma unroll
    for (int part = 0; part < MOST; ++part) {
        const int i = part * THREADS + threadIdx.x;
        if (i < columns) to[i] = (held[part] - mean) * factor * scale[i] + shift[i];
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double epsilon) {
    TORCH_CHECK(x.size(-1) <= MOST * THREADS, "rows of 8192 at most");
    torch::Tensor out = torch::empty_like(x);
    const int64_t columns = x.size(-1);
    normalise<<<x.numel() / columns, THREADS, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), int(columns),
        float(epsilon));
    return out;
}
"""

extension = load_inline(
    name="layer_norm_registers_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double epsilon);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x):
        return extension.forward(x, self.norm.weight, self.norm.bias, self.norm.eps)
