"""One block a group: sums in one pass over it, the output in a second one that finds it in the cache."""

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

__global__ void normalise(const float* from, const float* scale, const float* shift, float* to, int groups, int each,
                          int area, float epsilon) {
    const int64_t count = int64_t(each) * area;
    const int first = blockIdx.x % groups * each;
    from += blockIdx.x * count;
    to += blockIdx.x * count;
    float sum = 0.0f, squares = 0.0f;
    const float near = from[0];  // so that squares of large values do not cancel
    const int64_t whole = area % 4 == 0 ? count / 4 : 0;
    for (int64_t i = threadIdx.x; i < whole; i += THREADS) {
        const float4 v = reinterpret_cast<const float4*>(from)[i];
        const float a = v.x - near, b = v.y - near, c = v.z - near, d = v.w - near;
        sum += a + b + c + d;
        squares += a * a + b * b + c * c + d * d;
    }
    for (int64_t i = 4 * whole + threadIdx.x; i < count; i += THREADS) {
        const float a = from[i] - near;
        sum += a;
        squares += a * a;
    }
    const float off = across_block(sum, 0.0f, Sum()) / count;
    const float variance = across_block(squares, 0.0f, Sum()) / count - off * off;
    const float mean = near + off, factor = rsqrtf(variance + epsilon);
    for (int64_t i = threadIdx.x; i < whole; i += THREADS) {
        const float4 v = reinterpret_cast<const float4*>(from)[i];
        const int channel = first + int(4 * i / area);
        const float a = scale[channel] * factor, b = shift[channel] - mean * a;
        reinterpret_cast<float4*>(to)[i] = make_float4(v.x * a + b, v.y * a + b, v.z * a + b, v.w * a + b);
    }
    for (int64_t i = 4 * whole + threadIdx.x; i < count; i += THREADS) {
        const int channel = first + int(i / area);
        to[i] = (from[i] - mean) * factor * scale[channel] + shift[channel];
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t groups, double epsilon) {
    torch::Tensor out = torch::empty_like(x);
    const int each = x.size(1) / groups, area = x.size(2) * x.size(3);
    normalise<<<x.size(0) * groups, THREADS, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), int(groups), each,
        area, float(epsilon));
    return out;
}
"""

extension = load_inline(
    name="group_norm_block_cuda",
    cpp_sources=(
        "torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, "
        "int64_t groups, double epsilon);"
    ),
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x):
        return extension.forward(x, self.norm.weight, self.norm.bias, self.norm.num_groups, self.norm.eps)
